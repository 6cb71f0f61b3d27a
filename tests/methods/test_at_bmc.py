"""AT-BMC: attacks that hurt, copies that keep their gold, boundaries that match, a label embedding that learns."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from contract import counted_passes, losses_of, turns_of, without_gold
from torch.autograd import grad
from torch.nn import functional as F

from helpers import Listener, tiny_corpus, tiny_model, tiny_run
from rationalize.methods.at_bmc import at_bmc
from rationalize.models.losses import kl_divergence
from rationalize.models.weights import collect_weights
from rationalize.runs._workspace import Workspace
from rationalize.runs.preparation import prepare_data
from rationalize.runs.run import train, train_first
from rationalize.runs.training_data import make_training_data
from rationalize.text.words import find_runs


def losses(method, batch):
    [(_, turn)] = turns_of(method)
    return losses_of(method, turn, batch)


def attack(folder, corpus, **options):
    config = tiny_run("at_bmc", options=options)
    data = make_training_data(config, corpus[:10], corpus[10:14])
    return data, prepare_data(Workspace(config, folder, Listener(), train_first), data)


def test_the_label_embedding_learns_and_is_saved(batch):
    method = tiny_model("at_bmc").method
    parts = losses(method, batch)
    for part in ("select", "match"):
        assert grad(parts[part], method.label_embedding.weight, retain_graph=True)[0].any()
    assert "label_embedding.weight" in collect_weights(method)


def test_emissions_depend_on_the_label(batch):
    method = tiny_model("at_bmc").method
    with torch.no_grad():
        method.label_embedding.weight.copy_(torch.randn(2, 32, generator=torch.Generator().manual_seed(0)))
    hidden = method.read(batch).hidden
    zeros, ones = torch.zeros(len(batch), dtype=torch.long), torch.ones(len(batch), dtype=torch.long)
    by_hand = method.emission_head(hidden + method.label_embedding.weight[1])
    torch.testing.assert_close(method.emissions(hidden, ones), by_hand)
    assert not torch.equal(method.emissions(hidden, zeros), method.emissions(hidden, ones))


def test_match_is_that_of_the_full_matrix_of_spans(batch):
    """Every pair of places scored, then only gold starts with gold ends at or behind them counted."""
    method = tiny_model("at_bmc").method
    gold = batch.gold.clone()
    gold[:, 3:5] = batch.selectable[:, 3:5]
    gold[0] = False
    batch = replace(batch, gold=gold, has_gold=gold.any(-1))
    hidden = method.read(batch).hidden + method.label_embedding(batch.labels)[:, None]
    n = hidden.shape[1]
    firsts, lasts = hidden[:, :, None].expand(-1, -1, n, -1), hidden[:, None].expand(-1, n, -1, -1)
    matrix = method.span_head(torch.cat([firsts, lasts], -1)).squeeze(-1)
    scores, wanted = [], []
    for row, mask in enumerate(gold.tolist()):
        spans = [(start, end - 1) for start, end in find_runs(mask)]
        for i, _ in spans:
            for _, j in spans:
                if i <= j:
                    scores.append(matrix[row, i, j])
                    wanted.append(float((i, j) in spans))
    assert 0 < sum(wanted) < len(wanted)
    by_hand = F.binary_cross_entropy_with_logits(torch.stack(scores), torch.tensor(wanted))
    torch.testing.assert_close(losses(method, batch)["match"], by_hand)


def test_rows_without_gold_teach_the_classifier_alone(batch):
    method = tiny_model("at_bmc").method
    assert losses(method, without_gold(batch)).keys() == {"task", "adversarial"}


@pytest.mark.parametrize("encoder", ["tiny", "gru"])
@pytest.mark.parametrize("scale", ["relative", "absolute"])
def test_the_attack_is_as_large_as_asked_and_hurts_more_than_chance(batch, monkeypatch, encoder, scale):
    model = tiny_model("at_bmc", encoder={"name": encoder}, attack_radius=0.5, attack_scale=scale)
    method = model.method.double()
    seen = {}

    def spy(embedded, classify, clean, generator, **settings):
        seen["delta"] = original(embedded, classify, clean, generator, **settings)
        seen["clean"], seen["classify"], seen["embedded"] = clean, classify, embedded
        return seen["delta"]

    original = at_bmc.attack_embeddings
    monkeypatch.setattr(at_bmc, "attack_embeddings", spy)
    parts = losses(method, batch)
    delta, embedded, clean = seen["delta"], seen["embedded"], seen["clean"]
    size = embedded[batch.attention].square().mean().sqrt() if scale == "relative" else 1.0
    largest = delta.abs().amax(-1)
    torch.testing.assert_close(largest, torch.full_like(largest, 0.5) * size)
    with torch.no_grad():
        attacked = seen["classify"](embedded + delta)
        both = kl_divergence(clean, attacked) + kl_divergence(attacked, clean)
        torch.testing.assert_close(parts["adversarial"], both, check_dtype=False)
        generator = torch.Generator().manual_seed(0)
        for _ in range(20):
            noise = torch.randn(delta.shape, generator=generator, dtype=delta.dtype)
            noise *= largest[..., None] / noise.abs().amax(-1, keepdim=True)
            moved = kl_divergence(clean, seen["classify"](embedded + noise))
            assert moved < kl_divergence(clean, attacked)


def test_the_attacked_reading_teaches_encoder_and_classifier_but_not_the_tagger(batch):
    method = tiny_model("at_bmc").method
    part = losses(method, batch)["adversarial"]
    tagger = [*method.emission_head.parameters(), *method.crf.parameters(), *method.span_head.parameters()]
    assert all(each is None for each in grad(part, tagger, allow_unused=True, retain_graph=True))
    assert grad(part, method.class_head[0].weight, retain_graph=True)[0].any()
    inside = grad(part, list(method.encoder.parameters()), allow_unused=True)
    assert any(each is not None and each.any() for each in inside)


def test_without_the_attack_one_pass_is_enough(batch):
    method = tiny_model("at_bmc", adversarial_weight=0.0).method
    with counted_passes(method) as passes:
        parts = losses(method, batch)
    assert len(passes) == 1
    assert "adversarial" not in parts


@torch.no_grad()
def test_in_use_it_is_given_the_predicted_label(batch):
    method = tiny_model("at_bmc").method
    reading = method.read(batch)
    guess = method.class_head(reading.pooled).argmax(-1)
    scores = method.crf.marginals(method.emissions(reading.hidden, guess), batch.selectable)[..., 1]
    torch.testing.assert_close(method.explain(batch).scores, scores)


def test_every_annotated_example_gets_perturbed_copies_with_its_gold(tmp_path, corpus):
    data, attacked = attack(tmp_path, corpus, copies=2)
    assert attacked.train[:10] == data.train
    assert len(attacked.train) == len(attacked.gold_ids) == len({each.id for each in attacked.train}) == 30
    assert attacked.dev == data.dev
    for copy, source in zip(attacked.train[10:], [*data.train, *data.train], strict=True):
        assert copy.id in attacked.gold_ids
        assert copy.label == source.label
        assert copy.text != source.text
        spans = zip(copy.rationale, source.rationale, strict=True)
        assert all(copy.text[a.start : a.end] == source.text[b.start : b.end] for a, b in spans)


def test_copies_are_made_once_and_read_back(tmp_path, corpus):
    _, attacked = attack(tmp_path, corpus)
    kept = (tmp_path / "perturbed.jsonl").read_bytes()
    _, again = attack(tmp_path, corpus, perturbed_share=1.0)
    assert (tmp_path / "perturbed.jsonl").read_bytes() == kept
    assert attacked == again
    data, plain = attack(tmp_path / "other", corpus, copies=0)
    assert plain == data


def test_it_trains_with_the_uniform_term(tmp_path):
    """On attacked copies too: they carry their shortcuts along."""
    corpus = tiny_corpus(24)
    shortcuts = {"source": "known", "uniform_weight": 0.1}
    config = tiny_run("at_bmc", training={"epochs": 1, "batch_size": 8}, shortcuts=shortcuts)
    display = Listener()
    train(config, make_training_data(config, corpus[:16], corpus[16:]), tmp_path / "run", display)
    assert len(display.steps) == 4
    parts = {"task", "adversarial", "select", "match", "uniform"}
    assert all(said.keys() == parts for _, _, said in display.steps)
