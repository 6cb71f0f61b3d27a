"""Word pieces in a file: runs and rows are as without it."""

from __future__ import annotations

import numpy as np
import pytest
from runs_helpers import Stops, interrupt, plain_config, run, small_config, small_data, tree

from helpers import tiny_corpus, tiny_model
from rationalize.data.held_examples import hold_examples
from rationalize.runs._training_rows import describe_long_texts, encode_texts, to_rows
from rationalize.runs.run import train
from rationalize.runs.training_data import make_training_data
from rationalize.text.batch import collate
from rationalize.text.piece_file import keep_pieces
from rationalize.types import Example


def list_results(folder):
    """What training left, apart from the settings and the file itself."""
    found = tree(folder)
    return {name: found[name] for name in found if "model.safetensors" in name or "metrics" in name}


def test_a_run_with_its_pieces_in_a_file_is_the_same(tmp_path):
    changes = {"cache": str(tmp_path / "cache"), "epochs": 1}
    run(plain_config(training=changes), tmp_path / "plain")
    run(plain_config(training={**changes, "map_from": 0}), tmp_path / "mapped")
    assert list_results(tmp_path / "plain")
    assert list_results(tmp_path / "mapped") == list_results(tmp_path / "plain")
    assert len(list((tmp_path / "cache" / "pieces").glob("pieces-*"))) == 1


@pytest.mark.slow
def test_a_run_with_artifacts_and_its_pieces_in_a_file_is_the_same_and_resumes_the_same(tmp_path):
    plain = small_config(training={"cache": "off"})
    mapped = small_config(training={"cache": "off", "map_from": 0})
    run(plain, tmp_path / "plain")
    interrupt(mapped, tmp_path / "halfway", 7)
    run(mapped, tmp_path / "halfway", resume=True)
    assert list_results(tmp_path / "halfway") == list_results(tmp_path / "plain")


def put_on_disk(config):
    """The data of a small run, of which train is in a file."""
    corpus = tiny_corpus(50)
    return make_training_data(config, hold_examples(corpus[:40], 0), corpus[40:])


def test_a_run_whose_texts_are_on_disk_is_the_same_and_resumes_the_same(tmp_path):
    config = plain_config(training={"cache": "off", "map_from": 0, "epochs": 2})
    run(plain_config(training={"cache": "off", "epochs": 2}), tmp_path / "plain")
    with pytest.raises(KeyboardInterrupt):
        train(config, put_on_disk(config), tmp_path / "halfway", Stops(3))
    run(config, tmp_path / "halfway", resume=True, data=put_on_disk(config))
    assert list_results(tmp_path / "halfway") == list_results(tmp_path / "plain")
    assert put_on_disk(config).fingerprint() == small_data(config).fingerprint()


@pytest.mark.slow
def test_a_run_with_artifacts_whose_texts_are_on_disk_is_the_same(tmp_path):
    changes = {"cache": "off", "map_from": 0}
    config = small_config(training=changes)
    run(small_config(training={"cache": "off"}), tmp_path / "plain")
    run(config, tmp_path / "disk", data=put_on_disk(config))
    assert list_results(tmp_path / "disk") == list_results(tmp_path / "plain")


def test_rows_of_long_texts_queries_and_missing_labels_are_the_same(tmp_path):
    config = small_config("semi_rat", augment={"kind": "none"}, data={"gold_share": 0.1})
    corpus = [*tiny_corpus(9), Example("long", "many words of it . " * 60, "POS", query="is it good ?")]
    data = make_training_data(config, corpus, corpus[:4])
    text = tiny_model("semi_rat").text
    for truncate in (False, True):
        held = encode_texts(text, data.train, None, truncate=truncate)
        mapped = encode_texts(text, data.train, tmp_path, truncate=truncate)
        assert describe_long_texts(text, mapped) == describe_long_texts(text, held)
        pools, others = to_rows(held, data), to_rows(mapped, data)
        for name, rows in pools.items():
            assert [row.id for row in others[name]] == [row.id for row in rows]
            for row, other in zip(rows, others[name], strict=True):
                assert len(row.more) == len(other.more)
                one, two = (collate([each, *each.more], 0) for each in (row, other))
                assert all(getattr(one, field).equal(getattr(two, field)) for field in vars(one))


def test_the_file_is_made_once_and_again_if_it_is_damaged(tmp_path):
    text, corpus = tiny_model("un_rat").text, tiny_corpus(5)
    first = keep_pieces(tmp_path, text, corpus)
    (place,) = tmp_path.iterdir()
    made = (place / "pieces.i32").stat().st_mtime_ns
    again = keep_pieces(tmp_path, text, corpus)
    assert (place / "pieces.i32").stat().st_mtime_ns == made
    assert np.array_equal(first.load(3).ids, again.load(3).ids)
    (place / "pieces.i32").write_bytes(b"cut")
    assert np.array_equal(
        keep_pieces(tmp_path, text, corpus).load(3).ids, text.tabulate([corpus[3].text])[0].ids
    )
    keep_pieces(tmp_path, text, corpus[:4])
    assert len(list(tmp_path.iterdir())) == 2
