"""How long hypothesis searches: shortly in `make test`, as long as a test asks for in `make test-all`."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

STEADY, SEARCHING = "steady", "searching"
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", STEADY)
EASED = 4


def search(max_examples: int, **more: Any) -> settings:
    """Try so many examples, or a quarter of them where the tests have to be quick."""
    count = max_examples if PROFILE == SEARCHING else max(10, max_examples // EASED)
    return settings(max_examples=count, deadline=None, **more)
