"""One file per method. A method names its phases, its losses and how it explains; it holds no loop."""
