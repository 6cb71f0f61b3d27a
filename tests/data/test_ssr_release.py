"""Our reading of Movies gives the very word pieces and tags of the SSR authors' files."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from rationalize.data.source import load
from rationalize.models.tokenizer import load_tokenizer
from rationalize.text.windows import TextEncoder

SHARED = Path(__file__).parents[3] / "shared" / "data"
RELEASE, MOVIES = SHARED / "ssr_official_movie.tar.gz", SHARED / "movies.tar.gz"
pytestmark = pytest.mark.skipif(
    not (RELEASE.is_file() and MOVIES.is_file()),
    reason="the Movies data and the SSR release are not on this machine",
)


@pytest.mark.slow
def test_pieces_and_tags_equal_the_released_ones():
    with tarfile.open(RELEASE) as archive:
        read = {Path(m.name).name: archive.extractfile(m).read() for m in archive if m.isfile()}
    order = json.loads(read["official_order_annotation_ids.json"])
    splits = load(MOVIES).splits
    text = TextEncoder(load_tokenizer("minilm"), 512, words="whitespace")
    checked = 0
    for name, split in (("dev", "dev"), ("test", "test"), ("train_25_movie", "train")):
        examples = {example.id: example for example in splits[split]}
        rows = [json.loads(line) for line in read[f"{name}.json"].decode().splitlines()]
        for id, row in list(zip(order[name], rows, strict=True))[:60]:
            example = examples[id]
            window = text.encode(example.__class__(id, example.text), truncate=True).windows[0]
            assert window.input_ids.tolist() == _flat(row["input_ids"])
            assert window.mark_pieces(example.rationale or ()).astype(int).tolist() == _flat(row["tag_ids"])
            checked += 1
    assert checked == 180


def _flat(values: list) -> list[int]:
    return values[0] if isinstance(values[0], list) else values
