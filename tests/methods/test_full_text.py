"""Full text: a classifier like any other, and words found by any of five ways."""

from __future__ import annotations

import math

import pytest
import torch
from contract import counted_passes, losses_of, turns_of

from helpers import learn, tiny_corpus, tiny_model
from rationalize.errors import ConfigError
from rationalize.methods.full_text.attribution import evidence, find_first_pieces

KINDS = ("gradient_x_input", "integrated_gradients", "attention", "leave_one_out", "random")
every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
@torch.no_grad()
def test_the_wanted_share_of_whole_words_is_shown(batch, kind):
    method = tiny_model("full_text", attribution=kind, share=0.3, steps=2).method
    output = method.explain(batch)
    for row in range(len(batch)):
        own = batch.selectable[row]
        chosen = set(batch.words[row, output.mask[row]].tolist())
        assert len(chosen) == math.ceil(0.3 * len(set(batch.words[row, own].tolist())) - 1e-9)
        shown = torch.tensor([word in chosen for word in batch.words[row, own].tolist()])
        assert torch.equal(output.mask[row, own], shown), "a word is shown in part"
        heads = find_first_pieces(batch)[row]
        assert output.scores[row, heads & output.mask[row]].min() >= (
            output.scores[row, heads & ~output.mask[row]].max()
        )
        assert output.scores[row, own].min() == 0
        assert output.scores[row, own].max() <= 1


@every_kind
@torch.no_grad()
def test_the_label_comes_from_the_full_text_whatever_is_shown(batch, kind):
    method = tiny_model("full_text", attribution=kind, steps=2).method
    output = method.explain(batch)
    torch.testing.assert_close(output.logits, method.net.read(batch))
    torch.testing.assert_close(output.rationale, method.net.predict(batch, output.mask))
    assert not method.faithful


@every_kind
def test_the_engine_explains_with_gradients(corpus, kind):
    """It runs without gradients of its own, but must not forbid them."""
    model = tiny_model("full_text", attribution=kind, steps=2)
    for item in model.engine().explain(corpus[:3]):
        assert sum(item.explanation.selected) > 0
    assert not any(weight.grad is not None for weight in model.method.parameters())
    assert all(weight.requires_grad for weight in model.method.parameters())
    assert not model.method.net.training


@pytest.mark.parametrize(
    ("kind", "passes"),
    [("gradient_x_input", 2), ("attention", 2), ("random", 2), ("integrated_gradients", 7)],
)
def test_what_an_explanation_costs(batch, kind, passes):
    method = tiny_model("full_text", attribution=kind, steps=5).method
    with counted_passes(method) as counted:
        method.explain(batch)
    assert len(counted) == passes


@torch.no_grad()
def test_attributions_are_of_the_predicted_class(batch):
    """Turning the classes around turns the prediction, not what speaks for it."""
    method = tiny_model("full_text").method
    before = method.explain(batch)
    method.net.head.weight.copy_(method.net.head.weight.flip(0))
    method.net.head.bias.copy_(method.net.head.bias.flip(0))
    after = method.explain(batch)
    torch.testing.assert_close(after.logits, before.logits.flip(-1))
    torch.testing.assert_close(after.scores, before.scores)


@torch.no_grad()
def test_the_most_needed_word_comes_first(batch):
    method = tiny_model("full_text", attribution="leave_one_out").method
    logits = method.net.read(batch)
    target = logits.argmax(-1)
    output = method.explain(batch)
    best = output.scores.argmax(-1)
    kept = []
    for word in (batch.words.gather(1, best[:, None]), batch.words.amax(-1, keepdim=True)):
        without = method.net.predict(batch, batch.selectable & (batch.words != word))
        kept.append(evidence(without, target))
    assert (kept[0] <= kept[1] + 1e-6).all()


def test_a_gru_has_no_attention():
    with pytest.raises(ConfigError, match=r"attribution is attention, but encoder gru has none"):
        tiny_model("full_text", encoder={"name": "gru"}, attribution="attention")


def test_it_is_trained_on_the_full_text(batch):
    method = tiny_model("full_text").method
    [(_, turn)] = turns_of(method)
    expected = torch.nn.functional.cross_entropy(method.net.read(batch), batch.labels)
    torch.testing.assert_close(losses_of(method, turn, batch)["task"], expected)


@pytest.mark.slow
def test_trained_it_finds_words_that_matter(tmp_path):
    model, _ = learn("full_text", tmp_path / "run", epochs=8, options={"share": 0.15})
    items = list(model.engine().explain(tiny_corpus(60)[40:]))
    right = [item.explanation.label == item.encoded.example.label for item in items]
    assert sum(right) >= 18
    telling = other = 0
    for item in items:
        example, said = item.encoded.example, item.explanation
        spans = (*example.rationale, *example.shortcuts)
        for word, selected in zip(said.words, said.selected, strict=True):
            inside = any(span.start <= word.start < span.end for span in spans)
            telling, other = telling + (selected and inside), other + (selected and not inside)
    assert telling > 1.5 * other  # chance: about 0.5
