"""Tokenizers on disk."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from helpers import tiny_tokenizer
from rationalize.models.tokenizer import save_tokenizer


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_is_an_error_of_the_disk(tmp_path):
    (tmp_path / "tokenizer.json").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as refused:
        save_tokenizer(tiny_tokenizer(), tmp_path)
    assert refused.value.errno == errno.ENOSPC
