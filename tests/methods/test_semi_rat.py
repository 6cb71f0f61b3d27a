"""Semi-RAT: who sees gold, and which reading decides the label."""

from __future__ import annotations

import torch

from helpers import Listener, tiny_corpus, tiny_model, tiny_run
from rationalize.methods.semi_rat import SemiRAT
from rationalize.runs.run import train
from rationalize.runs.training_data import make_training_data


@torch.no_grad()
def test_the_label_may_come_from_the_full_text_and_then_says_so(batch):
    by_rationale = tiny_model("semi_rat").method
    by_text = tiny_model("semi_rat", label_from="full_text").method
    said, instead = by_rationale.explain(batch), by_text.explain(batch)
    assert by_rationale.faithful
    assert not by_text.faithful
    assert torch.equal(said.logits, said.rationale)
    assert torch.equal(instead.logits, instead.full_text)
    for part in ("mask", "scores", "full_text", "rationale"):
        assert torch.equal(getattr(said, part), getattr(instead, part))


@torch.no_grad()
def test_the_label_that_is_shown_is_the_one_that_was_chosen(corpus):
    model = tiny_model("semi_rat", label_from="full_text")
    for item in model.engine().explain(corpus[:4]):
        said = item.explanation
        assert not said.faithful
        assert said.probabilities == said.from_full_text
        assert said.from_rationale != said.from_full_text


def test_gold_is_seen_in_the_supervised_phase_alone(tmp_path, monkeypatch):
    seen = {"supervised_loss": [], "unsupervised_loss": []}
    for name in seen:
        original = getattr(SemiRAT, name)

        def spy(self, batch, generator, name=name, original=original):
            seen[name].append(batch)
            return original(self, batch, generator)

        monkeypatch.setattr(SemiRAT, name, spy)
    corpus = tiny_corpus(30)
    config = tiny_run("semi_rat", data={"gold_share": 0.3}, training={"epochs": 1, "batch_size": 4})
    data = make_training_data(config, corpus[:20], corpus[20:])
    train(config, data, tmp_path / "run", Listener())
    assert len(data.gold_ids) == sum(len(batch) for batch in seen["supervised_loss"]) == 6
    assert sum(len(batch) for batch in seen["unsupervised_loss"]) == 14
    assert all(batch.has_gold.all() for batch in seen["supervised_loss"])
    assert not any(batch.has_gold.any() or batch.gold.any() for batch in seen["unsupervised_loss"])
