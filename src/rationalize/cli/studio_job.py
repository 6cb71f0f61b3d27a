"""Run a command for the studio: `python -m rationalize.cli.studio_job FOLDER train …`.

The process holds the job's lock as long as it lives, so that a studio that was started again finds it; standard
output becomes the job's result only once the command has succeeded.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path


def run_job(folder: Path, words: list[str]) -> None:
    """Run the command while holding the lock; publish its output if all went well."""
    from rationalize.cli.main import main
    from rationalize.locks import take_lock

    for _ in range(50):  # a page that looks whether the job lives holds the lock for a moment
        lock = take_lock(folder / ".job.lock")
        if lock is not None:
            break
        time.sleep(0.1)
    else:
        sys.exit("another process is at work in this folder")
    sys.argv = ["rationalize", *words]
    try:
        main()
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    sys.stdout.flush()
    (folder / "result.txt.part").replace(folder / "result.txt")


if __name__ == "__main__":
    run_job(Path(sys.argv[1]), sys.argv[2:])
