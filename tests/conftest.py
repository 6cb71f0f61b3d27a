"""Shared fixtures. Its presence also puts this folder on the path, so that tests can `import helpers`."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import settings

from searches import PROFILE, SEARCHING, STEADY

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports the hub: no test reaches for the network
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

# The same examples in every run, so that a change is to blame for what fails; `make test-all` looks further each time.
settings.register_profile(STEADY, derandomize=True, deadline=None, max_examples=15)
settings.register_profile(SEARCHING, deadline=None)
settings.load_profile(PROFILE)
os.environ["RATIONALIZE_CACHE"] = "off"  # no test depends on what another one, or the user, has made


def pytest_collection_finish():
    """What collecting has imported stays to the end: the garbage collector need not look at it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def corpus():
    """Forty short labeled reviews with gold and shortcut spans."""
    from helpers import tiny_corpus

    return tiny_corpus(40)


@pytest.fixture
def batch(corpus):
    """Six of them, padded."""
    from helpers import tiny_batch

    return tiny_batch(corpus[:6])


@pytest.fixture
def model():
    """An untrained Un-RAT on the tiny encoder."""
    from helpers import tiny_model

    return tiny_model("un_rat")
