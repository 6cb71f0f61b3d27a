"""A corpus on a Ray cluster: the same bytes as here, whoever dies."""

from __future__ import annotations

from functools import partial

import pytest
from ray_works import FatalChunk

from helpers import tiny_corpus
from rationalize.corpus import explain_corpus
from rationalize.corpus._failure import ChunkFailure
from rationalize.corpus.corpus_settings import CorpusSettings
from rationalize.corpus.explain_corpus import explain_all
from rationalize.errors import ConfigError
from ray_clusters import start_cluster

EXAMPLES = tiny_corpus(30)


def settings(**given):
    return CorpusSettings(chunk_rows=4, workers=2, **given)


@pytest.mark.parametrize(
    "failure",
    [
        ChunkFailure("odd", ("out",), expected=True),
        ChunkFailure("full", disk=(28, "part")),
        ChunkFailure("bug"),
    ],
)
def test_what_went_wrong_elsewhere_is_raised_here_as_it_was(failure):
    back = ChunkFailure.from_json(failure.to_json())
    assert back == failure
    assert type(back.to_error()) is type(failure.to_error())


def test_a_device_that_workers_do_not_have_is_refused():
    with pytest.raises(ConfigError, match="chooses the GPU itself") as refused:
        settings(on="ray", device="cuda:1")
    assert refused.value.fields == ("device",)


@pytest.fixture(scope="module")
def cluster():
    pytest.importorskip("ray", reason="ray is not installed (the extra `ray`)")
    with start_cluster() as started:
        yield f"ray://{started.address}"


@pytest.mark.slow
def test_every_row_once_in_order_after_killed_workers(model, cluster, tmp_path, monkeypatch):
    here, there = tmp_path / "here", tmp_path / "there"
    explain_all(model, EXAMPLES, here, settings())
    work = partial(FatalChunk, tries=tmp_path, fatal={2: 1, 5: 1})
    monkeypatch.setattr(explain_corpus, "ExplainChunk", work)
    done = explain_all(model, EXAMPLES, there, settings(on=cluster))
    assert (done.rows, done.parts, done.found) == (30, 8, 0)
    assert (tmp_path / "tries-2").read_text() == (tmp_path / "tries-5").read_text() == "xx"
    parts = {path.name: path.read_bytes() for path in there.iterdir()}
    assert parts == {path.name: path.read_bytes() for path in here.iterdir()}
    assert not (tmp_path / "there.unfinished").exists()


@pytest.mark.slow
def test_a_chunk_that_kills_every_worker_ends_it_and_the_rest_is_kept(model, cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("rationalize.corpus._ray_data.SHARD_CHUNKS", 3)  # several shards
    work = partial(FatalChunk, tries=tmp_path, fatal={6: 3})
    monkeypatch.setattr(explain_corpus, "ExplainChunk", work)
    out = tmp_path / "out.jsonl"
    with pytest.raises(ConfigError, match=r"part 6 \(rows 21 to 24.*was lost 3 times") as caught:
        explain_all(model, EXAMPLES, out, settings(on=cluster))
    assert "resume" in caught.value.fields
    assert not out.exists()
    done = explain_all(model, EXAMPLES, out, settings(on=cluster, resume=True))
    assert (done.rows, done.parts) == (30, 8)
    assert done.found >= 3
    explain_all(model, EXAMPLES, tmp_path / "here.jsonl", settings())
    assert out.read_bytes() == (tmp_path / "here.jsonl").read_bytes()


@pytest.mark.slow
def test_more_workers_than_the_cluster_has_are_refused(model, cluster, tmp_path):
    for wrong, given in (("3 times 1 CPU and 0 GPU", {}), ("3 times 1 CPU and 1 GPU", {"device": "cuda"})):
        with pytest.raises(ConfigError, match=wrong) as refused:
            explain_all(
                model, EXAMPLES, tmp_path / "out.jsonl", CorpusSettings(workers=3, on=cluster, **given)
            )
        assert "workers" in refused.value.fields
    assert list(tmp_path.iterdir()) == []
