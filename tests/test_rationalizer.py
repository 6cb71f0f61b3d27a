"""The front door: fit, explain, predict, evaluate, save, load, and what it says to mistakes."""

from __future__ import annotations

import json

import pytest

from helpers import TINY, tiny_corpus
from rationalize import Rationalizer
from rationalize.data.planted import make_corpus
from rationalize.errors import ConfigError, DataError, ModelFormatError
from rationalize.files import manifest_problems
from rationalize.types import Example

QUICK = {"epochs": 2, "batch_size": 8, "learning_rate": 3e-3}
TRAIN, DEV = tiny_corpus(48), tiny_corpus(24, seed=1)
DEV = [Example(f"d{i}", each.text, each.label, rationale=each.rationale) for i, each in enumerate(DEV)]


def untrained(method="semi_rat", **settings):
    return Rationalizer(method, TINY, training=settings.pop("training", QUICK), **settings)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A trained model and its run folder."""
    folder = tmp_path_factory.mktemp("run")
    model = untrained(training={**QUICK, "epochs": 12}, data={"gold_share": 0.5})
    return model.fit(TRAIN, DEV, folder=folder, quiet=True), folder


def test_it_learns_what_the_tiny_corpus_says(run):
    metrics = run[0].evaluate(DEV)["metrics"]
    assert metrics["task_f1_weighted"] > 0.9  # every text holds two phrases that tell the label
    assert metrics["token_f1_eraser"] > 0.7  # taking everything would give about 0.3


def test_fit_on_planted_reviews():
    corpus = make_corpus(sizes={"train": 60, "val": 10, "test": 10})
    model = untrained(training={**QUICK, "epochs": 1}).fit(corpus["train"], corpus["val"], quiet=True)
    results = model.evaluate(corpus["test"], split="test")
    assert results["n_examples"] == 10
    assert results["metrics"]["shortcut_share"] is None or 0 <= results["metrics"]["shortcut_share"] <= 1
    json.dumps(results, allow_nan=False)


def test_labels_predictions_and_explanations_agree(run):
    model, _ = run
    texts = [each.text for each in DEV[:6]]
    explanations = model.explain(texts)
    assert model.labels == ("NEG", "POS")
    assert model.predict(texts) == [each.label for each in explanations]
    assert [each.text for each in explanations] == texts
    assert model.explain([]) == []
    assert [each.selected for each in model.explain(DEV[:6])] == [each.selected for each in explanations]
    assert [each.id for each in model.explain(DEV[:2])] == ["d0", "d1"]


def test_explain_iter_streams(run):
    model, _ = run
    stream = model.explain_iter(Example(str(i), "a joy to watch") for i in range(3))
    assert next(stream).id == "0"
    assert len(list(stream)) == 2


def test_long_texts_are_read_whole_unless_truncated(run):
    model, _ = run
    text = " ".join(each.text for each in TRAIN)
    assert model.explain([text])[0].cut_off is None
    assert model.explain([text], truncate=True)[0].cut_off is not None


def test_saved_and_loaded_it_is_the_same_model(run, tmp_path):
    model, folder = run
    texts = [each.text for each in DEV]
    expected = model.explain(texts)
    model.save_pretrained(tmp_path / "copy")
    assert manifest_problems(tmp_path / "copy") == []
    for source in (tmp_path / "copy", str(folder / "model"), folder):
        loaded = Rationalizer.from_pretrained(source)
        assert loaded.explain(texts) == expected
        assert loaded.labels == model.labels
        assert loaded.config.method == model.config.method
        assert loaded.config.encoder == model.config.encoder


def test_right_after_fit_and_after_loading_the_card_is_that_of_the_run(run, tmp_path):
    model, folder = run
    card = (folder / "model" / "README.md").read_bytes()
    assert b"48 training examples" in card
    for name, each in (("fitted", model), ("loaded", Rationalizer.from_pretrained(folder))):
        each.save_pretrained(tmp_path / name)
        assert (tmp_path / name / "README.md").read_bytes() == card
        assert (tmp_path / name / "config.json").read_bytes() == (
            folder / "model" / "config.json"
        ).read_bytes()


def test_the_run_folder_holds_the_run(run):
    _, folder = run
    for name in ("config.resolved.yaml", "metrics.jsonl", "results.json", "env.json", "model/MANIFEST.json"):
        assert (folder / name).is_file(), name


def test_without_dev_a_tenth_is_held_out(tmp_path):
    model = untrained("un_rat", training={**QUICK, "epochs": 1})
    model.fit(tiny_corpus(60), folder=tmp_path / "run", quiet=True)
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    assert results["dev"]["n_examples"] == 6


def test_the_same_seed_gives_the_same_model():
    def fitted(seed):
        model = untrained("un_rat", training={**QUICK, "epochs": 1}, seed=seed).fit(TRAIN, DEV, quiet=True)
        return [each.probabilities for each in model.explain([each.text for each in DEV[:4]])]

    first, again, other = fitted(3), fitted(3), fitted(4)
    assert first == again
    assert first != other


def test_queries_are_read(tmp_path):
    train = [
        Example(each.id, each.text, each.label, query=f"is it {i % 5} ?") for i, each in enumerate(TRAIN)
    ]
    model = untrained("un_rat", training={**QUICK, "epochs": 1}).fit(train, quiet=True)
    one, two = (model.explain(["a joy to watch"], queries=[query])[0] for query in ("is it 1 ?", "is it 4 ?"))
    assert (one.query, two.query) == ("is it 1 ?", "is it 4 ?")
    assert one.from_full_text != two.from_full_text
    assert len(one.words) == 4  # the query is no part of the text


@pytest.mark.parametrize("use", ["explain", "predict", "save_pretrained", "labels", "evaluate"])
def test_an_untrained_one_says_so(use, tmp_path):
    model = untrained()
    calls = {
        "explain": lambda: model.explain(["a"]),
        "predict": lambda: model.predict(["a"]),
        "save_pretrained": lambda: model.save_pretrained(tmp_path / "x"),
        "labels": lambda: model.labels,
        "evaluate": lambda: model.evaluate(DEV),
    }
    with pytest.raises(ModelFormatError, match="not trained yet: call fit"):
        calls[use]()
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("use", ["explain", "predict"])
def test_mistakes_with_texts_are_explained(run, use):
    call = getattr(run[0], use)
    with pytest.raises(ConfigError, match=r"wrap a single one: \[text\]"):
        call("a joy to watch")
    with pytest.raises(ConfigError, match="2 texts but 1 queries"):
        call(["a", "b"], queries=["q"])
    with pytest.raises(ConfigError, match="text 1 is of type NoneType"):
        call(["a", None])
    with pytest.raises(ConfigError, match="an Example has its own query"):
        call([DEV[0]], queries=["q"])


def test_mistakes_with_settings_are_explained():
    with pytest.raises(ConfigError, match="method 'best' is unknown"):
        Rationalizer("best")
    with pytest.raises(ConfigError, match=r"training\.epoch: unknown"):
        Rationalizer(training={"epoch": 3})
    with pytest.raises(ConfigError, match="options of semi_rat"):
        Rationalizer(options={"selection": {"share": 7}})


def test_mistakes_with_training_data_are_explained(tmp_path):
    with pytest.raises(ConfigError, match="not a list"):
        untrained().fit(tmp_path, DEV, quiet=True)
    with pytest.raises(DataError, match="2 are needed"):
        untrained("un_rat").fit([each for each in TRAIN if each.label == "POS"], quiet=True)
    without_gold = [Example(each.id, each.text, each.label) for each in TRAIN]
    with pytest.raises(DataError, match="learns from gold rationales"):
        untrained("semi_rat").fit(without_gold, quiet=True)


def test_a_damaged_model_is_refused(run, tmp_path):
    run[0].save_pretrained(tmp_path / "model")
    weights = tmp_path / "model" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    with pytest.raises(ModelFormatError, match=r"model\.safetensors"):
        Rationalizer.from_pretrained(tmp_path / "model")
