from __future__ import annotations

import json
from collections import Counter

import pytest

from helpers import tiny_corpus, tiny_model
from rating_studies import plan, small_study, write_predictions
from rationalize.data.jsonl import write_jsonl
from rationalize.errors import ConfigError, DataError, ModelFormatError
from rationalize.ratings.prepare_study import prepare_study
from rationalize.ratings.study import open_key, open_study
from rationalize.runs import model_folder
from rationalize.runs.model_folder import save_model


def test_raters_get_every_rationale_without_its_maker(tmp_path):
    study = small_study(tmp_path)
    key = open_key(study)
    assert Counter(origin.model for origin in key.items.values()) == {"ours": 6, "theirs": 6}
    by_id = {example.id: example for example in tiny_corpus(6)}
    for item in study.items:
        origin = key.items[item.id]
        words = by_id[origin.example].text.split()
        first = 0 if origin.model == "ours" else 1
        assert item.rationale == (" ".join(words[first : first + 2]),)
        assert set(item.model_dump()) == {"id", "text", "query", "label", "spans"}
    written = (study.folder / "items.jsonl").read_text()
    assert not any(name in written for name in ('"ours"', '"theirs"', '"r0"'))
    models = [key.items[item.id].model for item in study.items]
    assert models not in (sorted(models), sorted(models, reverse=True))


def test_the_seed_decides_everything(tmp_path):
    def made(name, seed):
        prepare_study(plan(tmp_path, 20, samples=5, seed=seed, out=tmp_path / name))
        return [(tmp_path / name / file).read_bytes() for file in ("items.jsonl", "key.json", "study.json")]

    assert made("a", 3) == made("b", 3)
    assert made("c", 4)[0] != made("d", 3)[0]


def test_labels_are_represented_in_the_sample(tmp_path):
    info = prepare_study(plan(tmp_path, 20, samples=6))
    labels = Counter(item.label for item in open_study(tmp_path / "study").items)
    assert (info.examples, info.items, labels) == (6, 12, {"POS": 6, "NEG": 6})


def test_models_and_predictions_side_by_side(tmp_path):
    write_jsonl(tmp_path / "test.jsonl", tiny_corpus(30))
    save_model(tmp_path / "run" / "model", tiny_model(), "card")
    ready = write_predictions(tmp_path / "ready.jsonl", 8)
    given = plan(
        tmp_path,
        models={"tiny": tmp_path / "run"},
        predictions={"ready": ready},
        data=tmp_path / "test.jsonl",
        samples=50,
    )
    info = prepare_study(given)
    key = open_key(open_study(given.out))
    examples = {f"r{index}" for index in range(8)}  # those that the predictions cover
    for name in ("tiny", "ready"):
        assert {origin.example for origin in key.items.values() if origin.model == name} == examples
    assert info.sources["tiny"].method == "un_rat"
    assert open_study(given.out).info.sources == info.sources
    assert set(info.sources["ready"].model_dump()) == {"predictions", "sha256"}


def test_mistakes_are_found_before_any_model_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(model_folder, "load_model", lambda *_: pytest.fail("loaded a model"))
    save_model(tmp_path / "model", tiny_model(), "card")
    models = {"tiny": tmp_path / "model"}
    with pytest.raises(ConfigError, match="nothing to rate"):
        prepare_study(plan(tmp_path, predictions={}))
    with pytest.raises(ConfigError, match="give data"):
        prepare_study(plan(tmp_path, models=models))
    with pytest.raises(ConfigError, match="Give each its own"):
        prepare_study(plan(tmp_path, models={"ours": tmp_path / "model"}, data=tmp_path))
    with pytest.raises(ModelFormatError, match="not a model or run folder"):
        prepare_study(plan(tmp_path, models={"tiny": tmp_path / "none"}, data=tmp_path))
    write_jsonl(tmp_path / "train.jsonl", tiny_corpus(4))
    with pytest.raises(DataError, match="no split 'test'"):
        prepare_study(plan(tmp_path, models=models, data=tmp_path / "train.jsonl"))
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "notes.txt").touch()
    with pytest.raises(ConfigError, match="taken"):
        prepare_study(plan(tmp_path, out=tmp_path / "taken"))
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"text": "another text"}, "offset outside|different text"),
        ({"label": None}, "label: missing value"),
        ({"spans": "all"}, "spans: wrong type"),
        ({"spans": None}, "spans: missing value"),
        ({"id": "same"}, "duplicate id"),
    ],
)
def test_predictions_that_are_none(tmp_path, changes, complaint):
    given = plan(tmp_path)
    write_predictions(given.predictions["theirs"], 6, **{"spans": [[0, 2]], **changes})
    with pytest.raises(DataError, match=complaint):
        prepare_study(given)


def test_predictions_of_other_examples(tmp_path):
    given = plan(tmp_path)
    lines = given.predictions["theirs"].read_text().replace('"id": "r', '"id": "x')
    given.predictions["theirs"].write_text(lines)
    with pytest.raises(DataError, match="in common"):
        prepare_study(given)


def test_changed_items_and_foreign_keys_are_refused(tmp_path):
    study = small_study(tmp_path)
    key = json.loads((study.folder / "key.json").read_text())
    (tmp_path / "other.json").write_text(json.dumps({**key, "items_sha256": "0"}))
    with pytest.raises(DataError, match="another study"):
        open_key(study, tmp_path / "other.json")
    (study.folder / "key.json").unlink()
    open_study(study.folder)  # raters need no key
    with pytest.raises(DataError, match="path of the key"):
        open_key(study)
    items = study.folder / "items.jsonl"
    items.write_text(items.read_text().replace("POS", "NEG"))
    with pytest.raises(DataError, match="changed"):
        open_study(study.folder)
