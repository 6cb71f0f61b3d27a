"""Which packages some code imports, seen from a process of its own."""

from __future__ import annotations

import subprocess
import sys


def list_imported(code: str, *packages: str) -> list[str]:
    """Run code, and list those of the packages that it has imported."""
    shown = f"import sys; {code}; print(*(name for name in {packages!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    return done.stdout.split()
