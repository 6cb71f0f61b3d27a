from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from itertools import pairwise
from statistics import fmean

import pytest
from planted_words import NEW_WORDS, OPINION_WORDS, SIDES, phrases
from typer.testing import CliRunner

from rationalize.cli.main import app
from rationalize.data.planted import PlantedConfig, build_corpus, make_corpus, summarize
from rationalize.data.planted._grammar import SLOT, load_rules
from rationalize.data.source import load
from rationalize.errors import ConfigError
from rationalize.files import manifest_problems
from rationalize.text.words import word_spans

SMALL = {"train": 40, "dev": 10, "test": 20, "ood": 20}
run = CliRunner().invoke


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(seed=3, sizes={"train": 300, "dev": 20, "test": 100, "ood": 400})


@pytest.fixture(scope="module")
def everything(corpus):
    return [example for examples in corpus.values() for example in examples]


def test_every_rule_is_used_and_every_slot_has_one():
    defined = {name.split(".")[0] for name in load_rules()}
    called = {
        slot for fillers in load_rules().values() for filler in fillers for slot in SLOT.findall(filler)
    }
    assert called | {"neutral", "opinion", "hearsay", "shortcut"} == defined
    assert all(len(set(fillers)) == len(fillers) for fillers in load_rules().values())


def test_the_same_seed_gives_the_same_corpus_everywhere():
    corpus = make_corpus(seed=7, sizes=SMALL)
    told = [(e.text, e.label, e.rationale, e.shortcuts) for examples in corpus.values() for e in examples]
    digest = hashlib.sha256(repr(told).encode()).hexdigest()
    assert digest[:16] == "756c967d9f5811eb"
    assert make_corpus(seed=8, sizes=SMALL)["test"] != corpus["test"]


def test_a_split_does_not_depend_on_the_others():
    assert make_corpus(sizes={"ood": 20})["ood"] == make_corpus(sizes=SMALL)["ood"]


def test_ids_and_texts_are_unique(everything):
    assert len({example.text for example in everything}) == len(everything)
    assert len({example.id for example in everything}) == len(everything)
    assert everything[1].id == "train-00001"


def test_dev_keeps_the_ids_and_the_texts_that_it_had_as_val(corpus):
    """Committed figures rest on them."""
    assert corpus["dev"][0].id == "val-00000"
    assert make_corpus(seed=3, sizes={"val": 20})["dev"] == corpus["dev"]
    assert hashlib.sha256(corpus["dev"][0].text.encode()).hexdigest()[:16] == "15c9e24abb9da53e"


def test_documents_are_laid_out_as_eraser_has_them(everything):
    for example in everything:
        assert 60 <= len(word_spans(example.text, "whitespace")) <= 160
        assert example.text == example.text.lower()
        assert all(line.endswith(" .") and "  " not in line for line in example.text.split("\n"))
        assert not {"[", "]", "{", "}"} & set(example.text)


def test_spans_are_whole_words_of_one_sentence(everything):
    for example in everything:
        words = word_spans(example.text, "whitespace")
        starts, ends = {word.start for word in words}, {word.end for word in words}
        spans = sorted(example.rationale + example.shortcuts)
        assert all(span.start in starts and span.end in ends for span in spans)
        assert all(one.end < other.start for one, other in pairwise(spans))
        assert not any("\n" in phrase for phrase in phrases(example, spans))


def test_gold_is_opinions_that_support_the_label(everything):
    for example in everything:
        gold = phrases(example, example.rationale)
        against = SIDES["NEG" if example.label == "POS" else "POS"]
        assert 2 <= len(gold) <= 4
        for phrase in gold:
            assert 3 <= len(phrase.split()) <= 8
            assert OPINION_WORDS & set(phrase.split())
            assert not against & set(phrase.split())


def test_shortcut_phrases_hold_no_opinion_word(everything):
    for example in everything:
        assert len(example.shortcuts) in (1, 2)
        for phrase in phrases(example, example.shortcuts):
            assert len(phrase.split()) >= 3
            assert not OPINION_WORDS & set(phrase.split())


@pytest.mark.parametrize(("correlation", "reversed_"), [(0.9, 0.1), (0.5, 0.5), (1.0, 0.0)])
def test_labels_are_balanced_and_the_shortcut_turns_around(correlation, reversed_):
    figures = summarize(make_corpus(sizes=SMALL, correlation=correlation))
    assert all(split.labels["NEG"] == split.labels["POS"] for split in figures.values())
    assert figures["test"].correlation == correlation
    assert figures["ood"].correlation == pytest.approx(reversed_)


def test_shares(corpus):
    figures = summarize(corpus)["train"]
    assert 0.10 < figures.gold_share < 0.20
    assert 0.05 < figures.shortcut_share < 0.08


def test_new_words_occur_in_ood_alone(corpus):
    def share(examples):
        gold = [phrase for example in examples for phrase in phrases(example, example.rationale)]
        return fmean(bool(NEW_WORDS & set(phrase.split())) for phrase in gold)

    assert share(corpus["train"]) == share(corpus["test"]) == 0
    assert 0.12 < share(corpus["ood"]) < 0.21


def test_what_other_people_think_is_never_gold_and_says_nothing():
    corpus = build_corpus(PlantedConfig(sizes={"train": 600}, hearsay=1, minority=0, mild=0))
    shares = {"NEG": [], "POS": []}
    for example in corpus["train"]:
        text = example.text
        for phrase in phrases(example, example.rationale):
            text = text.replace(phrase, "", 1)
        others = OPINION_WORDS & set(text.split())
        assert others
        shares[example.label].append(len(others & SIDES["POS"]) / len(others))
    assert abs(fmean(shares["NEG"]) - fmean(shares["POS"])) < 0.08


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sizes": {"other": 10}}, "train|dev|test|ood"),
        ({"sizes": {}}, "sizes"),
        ({"sizes": {"train": 1}}, "sizes.train"),
        ({"correlation": 1.5}, "correlation"),
        ({"seed": -1}, "seed"),
    ],
)
def test_wrong_settings_are_named(values, message):
    with pytest.raises(ConfigError) as error:
        make_corpus(**values)
    assert message in str(error.value)


@pytest.fixture
def command(tmp_path):
    sizes = [str(part) for split, size in SMALL.items() for part in (f"--{split}", size)]
    return ["data", "planted", "--out", str(tmp_path / "made"), "--seed", "5", *sizes]


def test_the_command_writes_what_the_function_makes(command, tmp_path):
    result = run(app, [*command, "--json"])
    assert json.loads(result.stdout)["splits"] == {
        split: asdict(each) for split, each in summarize(make_corpus(5, SMALL)).items()
    }
    assert load(tmp_path / "made").splits == make_corpus(5, SMALL).splits
    assert manifest_problems(tmp_path / "made") == []
    readme = (tmp_path / "made" / "README.md").read_text()
    assert "--seed 5 --correlation 0.9 --train 40 --dev 10 --test 20 --ood 20" in readme
    assert "CC0" in readme


def test_the_command_replaces_only_if_forced(command, tmp_path):
    assert run(app, command).exit_code == 0
    refused = run(app, [*command, "--ood", "0"])
    assert isinstance(refused.exception, ConfigError)
    assert (tmp_path / "made" / "ood.jsonl").exists()
    assert run(app, [*command, "--ood", "0", "--force"]).exit_code == 0
    assert not (tmp_path / "made" / "ood.jsonl").exists()


def test_gold_in_one_class_only(tmp_path):
    both, one = make_corpus(sizes=SMALL), make_corpus(sizes=SMALL, gold_classes=["POS"])
    for example, known in zip(one["train"], both["train"], strict=True):
        assert example.rationale == (known.rationale if known.label == "POS" else ())
        assert (example.text, example.shortcuts) == (known.text, known.shortcuts)
    out = str(tmp_path / "one")
    sizes = [part for split, size in SMALL.items() for part in (f"--{split}", str(size))]
    told = run(app, ["data", "planted", "--out", out, *sizes, "--gold-classes", "POS"])
    assert told.exit_code == 0, told.output
    assert load(out)["train"] == one["train"]
    assert "--gold-classes POS" in (tmp_path / "one" / "README.md").read_text()
    refused = run(app, ["data", "planted", "--out", f"{out}-2", "--gold-classes", "MAYBE"])
    assert isinstance(refused.exception, ConfigError)
