"""What can be learned from the planted corpus, and what misleads."""

from __future__ import annotations

from statistics import fmean

import pytest
from planted_words import OPINION_WORDS, phrases

from rationalize.data.planted import make_corpus
from rationalize.seeding import python_random


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(seed=3, sizes={"train": 1200, "test": 400, "ood": 400})


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
    everything_read: (0.917, 0.443),
    without_shortcut: (0.850, 0.787),
    neutral: (0.506, 0.499),
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
