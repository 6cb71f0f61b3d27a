"""`python -m rationalize`, which launchers such as torchrun start."""

from rationalize.cli.main import main

if __name__ == "__main__":
    main()
