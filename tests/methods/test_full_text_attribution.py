"""Attributions: hand-computed cases, the sums that they must have, and the slow way of doing the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from helpers import add_slow, tiny_batch, tiny_corpus, tiny_encoders
from local_encoders import save_local
from rationalize.config import EncoderConfig
from rationalize.methods.full_text.attribution import (
    draw_scores,
    evidence,
    find_first_pieces,
    gradient,
    integrated_gradients,
    leave_one_out,
    measure_attention,
    stretch_scores,
    sum_by_word,
)
from rationalize.models.classifier import Classifier
from rationalize.models.encoder import EncoderFactory
from rationalize.models.masking import read_masked
from rationalize.models.tokenizer import load_tokenizer
from rationalize.types import Example

ENCODERS = pytest.mark.parametrize("encoder", ["tiny", "gru"])


def examples():
    return [
        *tiny_corpus(3),
        Example("q", "a joy to watch . unbelievably dull", query="is it good ?"),
        Example("e", ""),
        Example("w", "dull"),
    ]


@pytest.fixture
def batch():
    return tiny_batch(examples())


def classifier(encoder="tiny", n_classes=3, double=False, **settings):
    with torch.random.fork_rng():
        torch.manual_seed(5)
        net = Classifier(tiny_encoders(name=encoder, layers=2, **settings), n_classes).eval()
        torch.nn.init.normal_(net.head.weight, std=3)
    return net.double() if double else net


def by_hand(values):
    """A classifier of masks alone: class 1 has evidence values(mask), class 0 has none."""
    return lambda batch, mask: torch.stack([torch.zeros(len(mask)), values(mask)], -1)


def test_evidence_is_the_logit_above_the_others():
    logits = torch.tensor([[1.0, 4.0, 2.0], [0.0, 0.0, -3.0]])
    assert evidence(logits, torch.tensor([1, 2])).tolist() == [2.5, -3.0]
    shifted = evidence(logits + 7, torch.tensor([1, 2]))
    torch.testing.assert_close(shifted, evidence(logits, torch.tensor([1, 2])))


def test_of_a_linear_classifier_every_attribution_is_its_weights(batch):
    weights = torch.arange(1.0, batch.input_ids.shape[1] + 1)
    predict = by_hand(lambda mask: (mask * weights).sum(-1))
    expected = weights * batch.selectable
    for found in (gradient(predict, batch), integrated_gradients(predict, batch, 3)):
        torch.testing.assert_close(found.pieces, expected)
        torch.testing.assert_close(found.logits[:, 1], expected.sum(-1))
    without = leave_one_out(predict, batch).pieces
    torch.testing.assert_close(without, sum_by_word(expected, batch))


def test_of_a_square_integrated_gradients_share_the_product_out(batch):
    """f = (Σ a m)²: the gradient at 1 is 2 a_i Σ a, twice too much in all; integrated, it is a_i Σ a."""
    weights = torch.linspace(0.5, 1.5, batch.input_ids.shape[1])
    predict = by_hand(lambda mask: (mask * weights).sum(-1).square())
    share = weights * batch.selectable
    expected = share * share.sum(-1, keepdim=True)
    torch.testing.assert_close(integrated_gradients(predict, batch, 1).pieces, expected)
    torch.testing.assert_close(gradient(predict, batch).pieces, 2 * expected)


def test_what_lowers_the_predicted_class_counts_against_it(batch):
    """Class 0 wins here, so what raises class 1 is evidence against."""
    predict = by_hand(lambda mask: mask.sum(-1) - 1000)
    assert (gradient(predict, batch).pieces[batch.selectable] == -1).all()


@pytest.mark.parametrize(
    ("encoder", "masking"), add_slow([("tiny", "mix")], [("tiny", "zero"), ("gru", "mix"), ("gru", "zero")])
)
def test_integrated_gradients_add_up(batch, encoder, masking):
    """Completeness: their sum is f(x) - f(everything hidden), the better the more steps."""
    net, batch = classifier(encoder, double=True), batch.rows(slice(2, 6))
    net.masking = masking
    nothing = torch.zeros(batch.selectable.shape, dtype=torch.double)
    with torch.no_grad():
        logits = net.read(batch)
        hidden = evidence(net.predict(batch, nothing), logits.argmax(-1))
    wanted = evidence(logits, logits.argmax(-1)) - hidden
    errors = []
    for steps in (1, 8, 40):
        found = integrated_gradients(net.predict, batch, steps, torch.double)
        torch.testing.assert_close(found.logits, logits)
        errors.append(float((found.pieces.sum(-1) - wanted).abs().max()))
    assert wanted.abs().max() > 0.1
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < 0.02 * wanted.abs().max()  # max pooling has kinks


@ENCODERS
def test_the_gradient_at_zero_masking_is_gradient_times_input(batch, encoder):
    net = classifier(encoder, double=True)
    embedded = net.encoder.embed(batch.input_ids).detach().requires_grad_()
    logits = net.head(net.encoder(embedded, batch.attention, batch.token_types).pooled)
    (slope,) = torch.autograd.grad(evidence(logits, logits.argmax(-1)).sum(), embedded)
    found = gradient(lambda some, mask: net.predict(some, mask, "zero"), batch, torch.double)
    torch.testing.assert_close(found.pieces, (slope * embedded).sum(-1) * batch.selectable)
    torch.testing.assert_close(found.logits, logits)
    assert all(weight.grad is None for weight in net.parameters())


@pytest.mark.parametrize(
    ("encoder", "chunk"),
    add_slow([("tiny", 7)], [("tiny", 1), ("tiny", 1000), ("gru", 1), ("gru", 7), ("gru", 1000)]),
)
@torch.no_grad()
def test_leave_one_out_is_what_reading_without_each_word_gives(batch, encoder, chunk):
    net = classifier(encoder, double=True)
    found = leave_one_out(net.predict, batch, chunk)
    for row in range(len(batch)):
        one = batch.rows(slice(row, row + 1))
        logits = net.read(one)
        target = logits.argmax(-1)
        for word in set(one.words[one.selectable].tolist()):
            own = (one.words == word) & one.selectable
            reading = read_masked(net.encoder, one, one.selectable & ~own, "mix")
            lost = evidence(logits, target) - evidence(net.head(reading.pooled), target)
            torch.testing.assert_close(found.pieces[row][own[0]], lost.expand(int(own.sum())))
    assert not found.pieces[~batch.selectable].any()


@pytest.mark.parametrize("pooling", ["cls", "mean", "last"])
@torch.no_grad()
def test_attention_is_that_of_the_last_layer(batch, pooling):
    """Against queries and keys multiplied by hand, on the layer's own input."""
    net = classifier(pooling=pooling)
    layer = net.encoder.model.encoder.layer[-1]
    inputs = []
    hook = layer.register_forward_pre_hook(lambda module, arguments: inputs.append(arguments[0]))
    found, reading = measure_attention(net.encoder, batch)
    hook.remove()
    own = layer.attention.self
    b, n, width = inputs[0].shape
    query, key = (
        each(inputs[0]).view(b, n, own.num_attention_heads, -1).transpose(1, 2)
        for each in (own.query, own.key)
    )
    scores = query @ key.transpose(-1, -2) / (width / own.num_attention_heads) ** 0.5
    looks = scores.masked_fill(~batch.attention[:, None, None], float("-inf")).softmax(-1).mean(1)
    for row, look in enumerate(looks):
        there = int(batch.attention[row].sum())
        rows = {"cls": look[0], "mean": look[:there].mean(0), "last": look[there - 1]}
        torch.testing.assert_close(found[row], rows[pooling] * batch.selectable[row])
    torch.testing.assert_close(net.head(reading.pooled), net.read(batch))


@pytest.mark.parametrize("kind", ["roberta", "llama", "gpt2"])
@torch.no_grad()
def test_attention_of_other_architectures_leaves_them_as_they_were(kind, tmp_path):
    save_local(kind, tmp_path)
    factory = EncoderFactory(EncoderConfig(name=str(tmp_path), max_tokens=64), load_tokenizer(str(tmp_path)))
    encoder, batch = factory.make().eval(), tiny_batch(tiny_corpus(3), tokenizer=factory.tokenizer)
    before = encoder.read(batch).hidden
    usual = encoder.model.config._attn_implementation
    found, _ = measure_attention(encoder, batch)
    assert encoder.model.config._attn_implementation == usual != "eager"
    assert not encoder.model.config.output_attentions
    after = encoder.read(batch).hidden
    assert torch.equal(before, after)
    assert (found[batch.selectable] > 0).all()
    assert (found.sum(-1) <= 1 + 1e-5).all()


def test_random_scores_are_of_the_text_and_the_seed_alone(batch):
    scores = draw_scores(batch, 1)
    assert ((scores >= 0) & (scores < 1)).all()
    assert not scores[~batch.selectable].any()
    alone = draw_scores(batch.rows(slice(1, 2)), 1)
    assert torch.equal(alone[0], scores[1])
    assert not torch.equal(scores, draw_scores(batch, 2))
    later = replace(batch, words=torch.where(batch.selectable, batch.words + 9, -1))
    assert torch.equal(draw_scores(later, 1), scores)
    assert torch.equal(scores, by_first(scores, batch))


def by_first(values, batch):
    """The value of each word's first piece, for all of its pieces, by a plain loop."""
    out = torch.zeros_like(values)
    for row, words in enumerate(batch.words.tolist()):
        for column, word in enumerate(words):
            if word >= 0:
                out[row, column] = values[row, words.index(word)]
    return out


def test_words_are_counted_by_their_first_piece_and_summed_over_all(batch):
    pieces = torch.rand(batch.words.shape, generator=torch.Generator().manual_seed(0))
    found, firsts = sum_by_word(pieces, batch), find_first_pieces(batch)
    assert (batch.selectable.sum() > firsts.sum()).item(), "no word has two pieces"
    for row, words in enumerate(batch.words.tolist()):
        known = {word for word in words if word >= 0}
        assert int(firsts[row].sum()) == len(known)
        for word in known:
            own = batch.words[row] == word
            assert bool(firsts[row, words.index(word)])
            torch.testing.assert_close(found[row][own], pieces[row][own].sum().expand(int(own.sum())))
    assert not found[~batch.selectable].any()


def test_scores_are_stretched_over_the_document():
    values = torch.tensor([[9.0, -1.0, 3.0, 1.0], [5.0, 2.0, 2.0, 7.0], [1.0, 1.0, 1.0, 1.0]])
    selectable = torch.tensor([[0, 1, 1, 1], [0, 1, 1, 0], [0, 0, 0, 0]], dtype=torch.bool)
    expected = torch.tensor([[0, 0, 1, 0.5], [0, 1, 1, 0], [0, 0, 0, 0]])
    assert torch.equal(stretch_scores(values, selectable), expected)
