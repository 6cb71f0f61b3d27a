from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from statistics import fmean

import pytest
from typer.testing import CliRunner

from rationalize.cli.main import app
from rationalize.data.planted import PlantedConfig, corpus_of, make_corpus, summarize
from rationalize.data.planted.grammar import SLOT, rules
from rationalize.data.source import load
from rationalize.errors import ConfigError
from rationalize.files import manifest_problems
from rationalize.seeding import python_random
from rationalize.text.words import word_spans

SMALL = {"train": 40, "val": 10, "test": 20, "ood": 20}
run = CliRunner().invoke


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(seed=3, sizes={"train": 1200, "val": 20, "test": 400, "ood": 400})


@pytest.fixture(scope="module")
def everything(corpus):
    return [example for examples in corpus.values() for example in examples]


def phrases(example, spans):
    return [example.text[span.start : span.end] for span in spans]


def words_of(*slots):
    """Every word that the slots can give, in any tone."""
    todo, found, words = list(slots), set(), set()
    while todo:
        slot = todo.pop()
        found.add(slot)
        for name, fillers in rules().items():
            if name.split(".")[0] == slot or name == slot:
                text = " ".join(fillers)
                words |= set(SLOT.sub(" ", text).split()) - {"[", "]"}
                todo += [inner for inner in SLOT.findall(text) if inner not in found]
    return words


def toned(*tones):
    """The opinion words of some tones."""
    return words_of(*(name for name in rules() if name.partition(".")[2] in tones)) & OPINION_WORDS


OPINION_WORDS = words_of("quality", "does")
NEW_WORDS = toned("POS.new", "NEG.new")
SIDES = {label: toned(label, f"{label}.new") for label in ("NEG", "POS")}


def test_every_rule_is_used_and_every_slot_has_one():
    defined = {name.split(".")[0] for name in rules()}
    called = {slot for fillers in rules().values() for filler in fillers for slot in SLOT.findall(filler)}
    assert called | {"neutral", "opinion", "hearsay", "shortcut"} == defined
    assert all(len(set(fillers)) == len(fillers) for fillers in rules().values())


def test_the_same_seed_gives_the_same_corpus_everywhere():
    corpus = make_corpus(seed=7, sizes=SMALL)
    told = [(e.text, e.label, e.rationale, e.shortcuts) for examples in corpus.values() for e in examples]
    digest = hashlib.sha256(repr(told).encode()).hexdigest()
    assert digest[:16] == "f79f4d355573c80f"
    assert make_corpus(seed=8, sizes=SMALL)["test"] != corpus["test"]


def test_a_split_does_not_depend_on_the_others():
    assert make_corpus(sizes={"ood": 20})["ood"] == make_corpus(sizes=SMALL)["ood"]


def test_ids_and_texts_are_unique(everything):
    assert len({example.text for example in everything}) == len(everything)
    assert len({example.id for example in everything}) == len(everything)
    assert everything[1].id == "train-00001"


def test_documents_are_laid_out_as_eraser_has_them(everything):
    for example in everything:
        assert 60 <= len(word_spans(example.text)) <= 160
        assert example.text == example.text.lower()
        assert all(line.endswith(" .") and "  " not in line for line in example.text.split("\n"))
        assert not {"[", "]", "{", "}"} & set(example.text)


def test_spans_are_whole_words_of_one_sentence(everything):
    for example in everything:
        words = word_spans(example.text)
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


def test_shortcut_phrases_hold_no_word_of_their_own(everything):
    elsewhere = words_of("neutral")
    for example in everything:
        assert len(example.shortcuts) in (1, 2)
        for phrase in phrases(example, example.shortcuts):
            assert len(phrase.split()) >= 3
            assert set(phrase.split()) <= elsewhere
            assert not OPINION_WORDS & set(phrase.split())


@pytest.mark.parametrize(("correlation", "reversed_"), [(0.9, 0.1), (0.5, 0.5), (1.0, 0.0)])
def test_labels_are_balanced_and_the_shortcut_turns_around(correlation, reversed_):
    figures = summarize(make_corpus(sizes=SMALL, correlation=correlation))
    assert all(split["labels"]["NEG"] == split["labels"]["POS"] for split in figures.values())
    assert figures["test"]["correlation"] == correlation
    assert figures["ood"]["correlation"] == pytest.approx(reversed_)


def test_shares(corpus):
    figures = summarize(corpus)["train"]
    assert 0.10 < figures["gold_share"] < 0.20
    assert 0.05 < figures["shortcut_share"] < 0.08


def test_new_words_occur_in_ood_alone(corpus):
    def share(examples):
        gold = [phrase for example in examples for phrase in phrases(example, example.rationale)]
        return fmean(bool(NEW_WORDS & set(phrase.split())) for phrase in gold)

    assert share(corpus["train"]) == share(corpus["test"]) == 0
    assert 0.12 < share(corpus["ood"]) < 0.21


def test_what_other_people_think_is_never_gold_and_says_nothing():
    corpus = corpus_of(PlantedConfig(sizes={"train": 600}, hearsay=1, minority=0, mild=0))
    shares = {"NEG": [], "POS": []}
    for example in corpus["train"]:
        text = example.text
        for phrase in phrases(example, example.rationale):
            text = text.replace(phrase, "", 1)
        others = OPINION_WORDS & set(text.split())
        assert others
        shares[example.label].append(len(others & SIDES["POS"]) / len(others))
    assert abs(fmean(shares["NEG"]) - fmean(shares["POS"])) < 0.08


def accuracy(corpus, view):
    """Of a bag of words that reads one view of the documents: on test, on ood."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    bag = CountVectorizer(token_pattern=r"\S+", min_df=2)
    model = LogisticRegression(solver="liblinear")
    model.fit(bag.fit_transform(map(view, corpus["train"])), [example.label for example in corpus["train"]])
    return [
        model.score(bag.transform(map(view, corpus[split])), [example.label for example in corpus[split]])
        for split in ("test", "ood")
    ]


def gold(example):
    return " ".join(phrases(example, example.rationale))


def shortcut(example):
    return " ".join(phrases(example, example.shortcuts))


def everything_read(example):
    return example.text


def without_shortcut(example):
    text = example.text
    for span in reversed(example.shortcuts):
        text = text[: span.start] + text[span.end :]
    return text


def neutral(example):
    """The sentences without any opinion, shortcuts cut out."""
    lines = without_shortcut(example).split("\n")
    return "\n".join(line for line in lines if not OPINION_WORDS & set(line.split()))


def test_opinions_hold_where_the_shortcut_misleads(corpus):
    test, ood = accuracy(corpus, gold)
    assert 0.9 < test < 0.99
    assert ood > 0.8
    test, ood = accuracy(corpus, shortcut)
    assert (test, ood) == (pytest.approx(0.9), pytest.approx(0.1))
    test, ood = accuracy(corpus, neutral)
    assert 0.4 < test < 0.6
    assert 0.4 < ood < 0.6


def test_whoever_reads_everything_is_tempted(corpus):
    test, ood = accuracy(corpus, everything_read)
    assert test > 0.85
    assert ood < 0.6


@pytest.mark.slow
def test_figures_of_the_documentation():
    corpora = [make_corpus(seed) for seed in (0, 1, 2)]
    for view, expected in FIGURES.items():
        scores = zip(*(accuracy(corpus, view) for corpus in corpora))
        assert [fmean(split) for split in scores] == pytest.approx(expected, abs=0.01), view.__name__


# docs/planted.md shows these: accuracy on test and on ood, mean of three corpora.
FIGURES = {
    gold: (0.951, 0.870),
    shortcut: (0.9, 0.1),
    everything_read: (0.922, 0.522),
    without_shortcut: (0.849, 0.769),
    neutral: (0.511, 0.509),
}


@pytest.mark.slow
def test_a_small_transformer_learns_it_and_is_tempted():
    corpus = make_corpus()
    test, ood = transformer_accuracy(corpus, everything_read)
    assert test > 0.88
    assert ood < 0.75
    test, ood = transformer_accuracy(corpus, without_shortcut)
    assert test > 0.8
    assert ood > 0.75


def transformer_accuracy(corpus, view, *, epochs=6, width=128):
    """Of a two-layer encoder over words, trained from scratch: on test, on ood."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    seen = sorted({word for example in corpus["train"] for word in view(example).split()})
    number = {word: index for index, word in enumerate(seen, start=2)}  # 0: padding, 1: unknown

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(len(number) + 2, width)
            self.places = nn.Embedding(200, width)
            for table in (self.words, self.places):
                nn.init.normal_(table.weight, std=0.02)
            self.norm = nn.LayerNorm(width)
            layer = nn.TransformerEncoderLayer(width, 4, 2 * width, 0.1, "gelu", batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.head = nn.Linear(width, 2)

        def forward(self, tokens):  # (batch, words)
            padding = tokens == 0
            hidden = self.norm(self.words(tokens) + self.places.weight[: tokens.shape[1]])
            hidden = self.encoder(hidden, src_key_padding_mask=padding).masked_fill(padding[..., None], 0)
            return self.head(hidden.sum(1) / (~padding).sum(1, keepdim=True))

    def batches(examples, size=32):
        for start in range(0, len(examples), size):
            part = examples[start : start + size]
            rows = [torch.tensor([number.get(word, 1) for word in view(example).split()]) for example in part]
            labels = torch.tensor([int(example.label == "POS") for example in part])
            yield nn.utils.rnn.pad_sequence(rows, batch_first=True), labels

    model = Reader()
    optimizer = torch.optim.AdamW(model.parameters(), lr=7e-4)
    steps = epochs * -(-len(corpus["train"]) // 32)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / 100, 1 - step / steps)
    )
    for epoch in range(epochs):
        order = list(corpus["train"])
        python_random(0, "order", epoch).shuffle(order)
        for tokens, labels in batches(order):
            loss = nn.functional.cross_entropy(model(tokens), labels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    model.eval()
    with torch.no_grad():
        right = [
            [model(tokens).argmax(-1) == labels for tokens, labels in batches(corpus[split])]
            for split in ("test", "ood")
        ]
    return [torch.cat(split).float().mean().item() for split in right]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sizes": {"dev": 10}}, "train|val|test|ood"),
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
    assert json.loads(result.stdout)["splits"] == summarize(make_corpus(5, SMALL))
    assert load(tmp_path / "made").splits == make_corpus(5, SMALL)
    assert manifest_problems(tmp_path / "made") == []
    readme = (tmp_path / "made" / "README.md").read_text()
    assert "--seed 5 --correlation 0.9 --train 40 --val 10 --test 20 --ood 20" in readme
    assert "CC0" in readme


def test_the_command_replaces_only_if_forced(command, tmp_path):
    assert run(app, command).exit_code == 0
    refused = run(app, [*command, "--ood", "0"])
    assert isinstance(refused.exception, ConfigError)
    assert (tmp_path / "made" / "ood.jsonl").exists()
    assert run(app, [*command, "--ood", "0", "--force"]).exit_code == 0
    assert not (tmp_path / "made" / "ood.jsonl").exists()
