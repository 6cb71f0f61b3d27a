"""The front door: fit, explain, predict, evaluate, save, load, and what it answers to mistakes."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from itertools import count, islice

import numpy as np
import pytest

import rationalize as rz
from helpers import TINY, tiny_corpus
from rationalize import Example, Rationalizer
from rationalize.data.planted import make_corpus
from rationalize.errors import ConfigError, DataError, ModelFormatError
from rationalize.files import manifest_problems, read_json

QUICK = {"epochs": 2, "batch_size": 8, "learning_rate": 3e-3}
TRAIN, DEV = tiny_corpus(48), tiny_corpus(24, seed=1)
DEV = [Example(f"d{i}", each.text, each.label, rationale=each.rationale) for i, each in enumerate(DEV)]
TEXTS = [each.text for each in DEV]


def untrained(method="semi_rat", **settings):
    return Rationalizer(method, TINY, training=settings.pop("training", QUICK), **settings)


def one_epoch(method="un_rat", **settings):
    return untrained(method, training={**QUICK, "epochs": 1}, **settings)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A trained model and its run folder."""
    folder = tmp_path_factory.mktemp("run")
    model = untrained(training={**QUICK, "epochs": 16}, data={"gold_share": 0.5})
    return model.fit(TRAIN, dev=DEV, folder=folder, quiet=True), folder


def test_it_learns_what_the_tiny_corpus_shows(run):
    found = run[0].evaluate(DEV, "dev")
    assert found.task_f1_weighted > 0.9  # every text holds two phrases that decide the label
    assert found.token_f1_eraser > 0.7  # taking everything would give about 0.3


def test_it_says_in_words_what_it_is_worth(run):
    verdict, results = run[0].verdict_, read_json(run[1] / "results.json")
    assert verdict.to_dict() == results["verdict"]
    assert [each.topic for each in verdict.comparisons] == ["bag", "selectors", "full_text"]
    assert verdict.comparisons[0].reference == results["dev"]["metrics"]["task_f1_weighted_bag"] > 0.5
    assert verdict.summary in str(verdict)
    loaded = Rationalizer.from_pretrained(run[1] / "model")
    assert loaded.evaluate(DEV, "dev").task_f1_weighted_bag == verdict.comparisons[0].reference


def test_fit_on_planted_reviews():
    corpus = make_corpus(sizes={"train": 60, "dev": 10, "test": 10})
    found = one_epoch("semi_rat").fit(corpus, quiet=True).evaluate(corpus, "test")
    words = np.concatenate([item.explanation.selected for item in found.explained])
    assert (found.n_examples, found.split) == (10, "test")
    assert found.selected_fraction == pytest.approx(np.mean(words))
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == found.to_dict()


def test_one_text_many_texts_and_a_stream(run):
    model, _ = run
    explanations = model.explain(TEXTS[:6])
    alone = model.explain(TEXTS[0])
    assert (alone.label, alone.spans) == (explanations[0].label, explanations[0].spans)
    assert [each.text for each in explanations] == TEXTS[:6]
    assert [each.selected for each in model.explain(DEV[:6])] == [each.selected for each in explanations]
    assert [each.id for each in model.explain(DEV[:2])] == ["d0", "d1"]
    assert model.explain([]) == []
    endless = model.explain(Example(str(i), "a joy to watch") for i in count())
    assert [each.id for each in islice(endless, 3)] == ["0", "1", "2"]


def test_labels_and_probabilities_are_those_of_the_explanations(run):
    model, _ = run
    explanations = model.explain(TEXTS[:6])
    assert model.labels == ("NEG", "POS")
    assert model.predict(TEXTS[:6]) == [each.label for each in explanations]
    assert model.predict(TEXTS[0]) == explanations[0].label
    chances = model.predict_proba(np.array(TEXTS[:6]))
    assert chances == pytest.approx(np.array([list(each.probabilities.values()) for each in explanations]))
    assert model.predict_proba(TEXTS[0]) == pytest.approx(chances[0])
    assert model.predict_proba([]).shape == (0, 2)


def test_long_texts_are_read_whole_unless_truncated(run):
    text = " ".join(each.text for each in TRAIN)
    assert run[0].explain(text).cut_off is None
    assert run[0].explain(text, truncate=True).cut_off is not None


def test_saved_and_loaded_it_is_the_same_model(run, tmp_path):
    model, folder = run
    expected = model.explain(TEXTS)
    model.save_pretrained(tmp_path / "copy")
    assert manifest_problems(tmp_path / "copy") == []
    for source in (tmp_path / "copy", str(folder / "model"), folder):
        loaded = Rationalizer.from_pretrained(source)
        assert loaded.explain(TEXTS) == expected
        assert loaded.labels == model.labels
        assert loaded.config.encoder == model.config.encoder
        assert loaded.config.training == model.config.training


def test_where_a_model_comes_from_survives_loading_and_saving(tmp_path):
    model = one_epoch(seed=7).fit(TRAIN, dev=DEV, folder=tmp_path / "run", quiet=True)
    model.save_pretrained(tmp_path / "fresh")
    Rationalizer.from_pretrained(tmp_path / "fresh").save_pretrained(tmp_path / "again")
    cards = {(tmp_path / name / "README.md").read_text() for name in ("run/model", "fresh", "again")}
    (card,) = cards
    assert "48 training examples" in card
    assert "| Seed | 7 |" in card
    origin = read_json(tmp_path / "again" / "config.json")["provenance"]
    assert (origin["seed"], origin["training"]["epochs"], origin["data"]["n_dev"]) == (7, 1, 24)
    assert origin["dev"]["n_examples"] == 24


def test_a_hub_id_is_fetched_and_pushed_as_a_folder(run, tmp_path, monkeypatch):
    import huggingface_hub

    pushed = tmp_path / "hub"

    class Api:
        def __init__(self, token=None):
            assert token == "secret"

        def create_repo(self, repo_id, *, private, exist_ok):
            assert (repo_id, private, exist_ok) == ("me/model", True, True)

        def upload_folder(self, *, repo_id, folder_path, commit_message):
            shutil.copytree(folder_path, pushed)
            return "the commit"

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name, **_: str(pushed))
    assert run[0].push_to_hub("me/model", private=True, token="secret") == "the commit"
    assert Rationalizer.from_pretrained("me/model").explain(TEXTS[:3]) == run[0].explain(TEXTS[:3])


def test_a_hub_that_cannot_be_reached_differs_from_a_missing_folder():
    with pytest.raises(ModelFormatError, match="Hub download failed"):
        Rationalizer.from_pretrained("nobody/nothing")
    with pytest.raises(ModelFormatError, match="no such model folder"):
        Rationalizer.from_pretrained("runs/no/such")


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
    for name in ("config.resolved.yaml", "metrics.jsonl", "results.json", "env.json", "model/MANIFEST.json"):
        assert (run[1] / name).is_file(), name


def test_without_dev_a_part_is_held_out(tmp_path):
    one_epoch().fit(tiny_corpus(60), folder=tmp_path / "run", quiet=True)
    assert read_json(tmp_path / "run" / "results.json")["dev"]["n_examples"] == 12


def test_an_interrupted_run_is_resumed_by_its_folder_alone(tmp_path, monkeypatch):
    from rationalize.training.loop import Trainer

    whole = one_epoch().fit(TRAIN, dev=DEV, folder=tmp_path / "whole", quiet=True)
    with monkeypatch.context() as patched:
        patched.setattr(Trainer, "_close_epoch", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            one_epoch().fit(TRAIN, dev=DEV, folder=tmp_path / "cut", quiet=True)
    resumed = Rationalizer.resume(tmp_path / "cut", {"train": TRAIN, "dev": DEV}, quiet=True)
    assert resumed.explain(TEXTS[:3]) == whole.explain(TEXTS[:3])


def test_the_same_seed_gives_the_same_model():
    def probabilities(seed):
        model = one_epoch(seed=seed).fit(TRAIN, dev=DEV, quiet=True)
        return [each.probabilities for each in model.explain(TEXTS[:4])]

    first, again, other = probabilities(3), probabilities(3), probabilities(4)
    assert first == again
    assert first != other


def test_queries_are_read():
    train = [replace(each, query=f"is it {i % 5} ?") for i, each in enumerate(TRAIN)]
    model = one_epoch().fit(train, quiet=True)
    one, two = (model.explain("a joy to watch", queries=query) for query in ("is it 1 ?", "is it 4 ?"))
    assert (one.query, two.query) == ("is it 1 ?", "is it 4 ?")
    assert one.from_full_text != two.from_full_text
    assert len(one.words) == 4  # the query is no part of the text


class TestScikitLearn:
    def test_texts_and_labels_of_any_kind(self):
        labels = [int(each.label == "POS") for each in TRAIN]
        model = untrained("full_text", training={**QUICK, "epochs": 8})
        model.fit([each.text for each in TRAIN], labels, quiet=True)
        assert model.classes_.tolist() == [0, 1]
        assert set(model.predict(TEXTS)) == {0, 1}
        truth = [int(each.label == "POS") for each in DEV]
        right = [said == true for said, true in zip(model.predict(TEXTS), truth, strict=True)]
        assert model.score(TEXTS, truth) == np.mean(right) > 0.5

    def test_cross_validation_pipelines_and_clones(self):
        from sklearn.base import clone, is_classifier
        from sklearn.model_selection import cross_val_score
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer

        model = one_epoch()
        assert is_classifier(model)
        assert clone(model).get_params() == model.get_params()
        texts, labels = np.array([each.text for each in TRAIN]), [each.label for each in TRAIN]
        whole = make_pipeline(FunctionTransformer(np.char.lower), model)
        scores = cross_val_score(whole, texts, labels, cv=2, error_score="raise")
        assert len(scores) == 2
        assert all(0 <= score <= 1 for score in scores)

    def test_parameters_are_changed_by_name(self):
        model = untrained().set_params(method="un_rat", seed=5)
        assert (model.config.method, model.config.seed) == ("un_rat", 5)
        assert model.get_params()["encoder"] is TINY
        with pytest.raises(ConfigError, match="no parameter epochs"):
            model.set_params(epochs=3)


def test_a_data_frame_and_a_file_are_data(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"post": [each.text for each in TRAIN], "kind": [each.label for each in TRAIN]})
    fields = {"fields": {"text": "post", "label": "kind"}}
    model = one_epoch(data=fields).fit(frame, quiet=True)
    assert model.labels == ("NEG", "POS")
    frame.to_csv(tmp_path / "posts.csv", index=False)
    again = one_epoch(data=fields).fit(tmp_path / "posts.csv", quiet=True)
    assert again.model.config.provenance.data.name == "posts"
    assert again.evaluate(rz.load(frame, text_field="post", label_field="kind"), "data").n_examples == 48


def test_a_preset_with_augmentation_stands_under_what_is_given():
    model = Rationalizer("ssr_unif", preset="small", augment="semantic", training={"epochs": 7})
    assert model.config.augment.kind == "semantic"
    assert (model.config.training.epochs, model.config.training.warm_start) == (7, 2)
    assert model.config.preset.name == "small"
    named = Rationalizer("ssr_unif", preset="small", data={"name": "evidence_inference"})
    assert named.config.options["selection"]["share"] == 0.08
    assert model.config.options["selection"]["share"] != 0.08


def test_the_device_is_a_setting(run, monkeypatch):
    model, folder = run
    assert next(model.model.method.parameters()).device.type == "cpu"
    assert model.to("cpu") is model
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    for refused in (
        lambda: model.to("cuda"),
        lambda: Rationalizer.from_pretrained(folder, device="cuda"),
        lambda: untrained("un_rat", device="cuda").fit(TRAIN, quiet=True),
    ):
        with pytest.raises(ConfigError, match="'cuda' is not available"):
            refused()


def test_it_shows_what_it_is(run):
    assert (
        repr(untrained(seed=3))
        == "Rationalizer('semi_rat', encoder='tiny', preset='auto', seed=3): not trained"
    )
    assert repr(run[0]).endswith("labels NEG, POS, from the selected words alone")


def test_the_package_is_the_door():
    assert {about.name for about in rz.methods()} >= {"un_rat", "ssr_unif"}
    found = rz.audit(make_corpus(sizes={"train": 120}), settings={"semantic": False, "sample": 5})
    assert found.suspected
    assert sorted(rz.__all__) == [name for name in sorted(rz.__all__) if getattr(rz, name) is not None]


@pytest.mark.parametrize(
    "use", ["explain", "predict", "save_pretrained", "labels", "evaluate", "push_to_hub", "verdict_"]
)
def test_an_untrained_one_refuses(use, tmp_path):
    model = untrained()
    calls = {
        "explain": lambda: model.explain(["a"]),
        "predict": lambda: model.predict(["a"]),
        "save_pretrained": lambda: model.save_pretrained(tmp_path / "x"),
        "push_to_hub": lambda: model.push_to_hub("me/model"),
        "labels": lambda: model.labels,
        "verdict_": lambda: model.verdict_,
        "evaluate": lambda: model.evaluate(DEV),
    }
    with pytest.raises(ModelFormatError, match="not trained yet: call fit"):
        calls[use]()
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("use", ["explain", "predict", "predict_proba"])
def test_mistakes_with_texts_are_explained(run, use):
    call = getattr(run[0], use)
    with pytest.raises(ConfigError, match="queries: got 1 for 2 texts"):
        call(["a", "b"], queries=["q"])
    with pytest.raises(ConfigError, match="one query per text"):
        call(["a", "b"], queries="q")
    with pytest.raises(ConfigError, match=r"texts\[1\]: expected str or Example, got NoneType"):
        call(["a", None])
    with pytest.raises(ConfigError, match="an Example has its own query"):
        call([DEV[0]], queries=["q"])
    with pytest.raises(ConfigError, match="expected str, Example or several"):
        call(3)


def test_mistakes_with_settings_are_explained():
    with pytest.raises(ConfigError, match="method 'best' is unknown"):
        Rationalizer("best")
    with pytest.raises(ConfigError, match=r"training\.epoch: unknown"):
        Rationalizer(training={"epoch": 3})
    with pytest.raises(ConfigError, match="options of semi_rat"):
        Rationalizer(options={"selection": {"share": 7}})


def test_mistakes_with_training_data_are_explained():
    with pytest.raises(DataError, match="class"):
        untrained("un_rat").fit([each for each in TRAIN if each.label == "POS"], quiet=True)
    without_gold = [Example(each.id, each.text, each.label) for each in TRAIN]
    with pytest.raises(DataError, match="learns from gold rationales"):
        untrained("semi_rat").fit(without_gold, quiet=True)
    with pytest.raises(ConfigError, match="nothing to train on"):
        untrained().fit(None, quiet=True)


def test_a_damaged_model_is_refused(run, tmp_path):
    run[0].save_pretrained(tmp_path / "model")
    weights = tmp_path / "model" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    with pytest.raises(ModelFormatError, match=r"model\.safetensors"):
        Rationalizer.from_pretrained(tmp_path / "model")
