"""Masking: what is hidden cannot be read. Identities of hidden pieces are changed and nothing may move."""

from __future__ import annotations

import pytest
import torch

from helpers import tiny_batch, tiny_corpus, tiny_encoders
from local_encoders import KINDS, save_local
from rationalize.config import EncoderConfig
from rationalize.models.encoder import EncoderFactory
from rationalize.models.masking import MASKINGS, pool_masked, read_masked, show_to_predictor
from rationalize.models.tokenizer import load_tokenizer
from rationalize.text.batch import Batch
from rationalize.types import Example


@pytest.fixture(scope="module")
def encoders(tmp_path_factory):
    """Factories of every kind of encoder."""
    made = {"tiny": tiny_encoders(), "gru": tiny_encoders(name="gru")}
    for kind in KINDS:
        folder = tmp_path_factory.mktemp(kind)
        save_local(kind, folder)
        made[kind] = EncoderFactory(
            EncoderConfig(name=str(folder), max_tokens=64), load_tokenizer(str(folder))
        )
    return made


def some_batch(factory):
    examples = [
        *tiny_corpus(4),
        Example("q", "a joy to watch , superb acting throughout", query="is it good ?"),
    ]
    return tiny_batch(examples, 64, factory.tokenizer)


def hard_mask(batch: Batch, seed: int = 0):
    draw = torch.rand(batch.input_ids.shape, generator=torch.Generator().manual_seed(seed))
    return ((draw < 0.3) & batch.selectable).float()


def scrambled(batch: Batch, mask) -> Batch:
    """The batch with another piece in every hidden place of the document."""
    hidden = batch.selectable & (mask == 0)
    other = (batch.input_ids * 7 + 13) % 60 + 6
    assert hidden.any()
    assert (other != batch.input_ids)[hidden].any()
    values = {name: getattr(batch, name) for name in batch.__dataclass_fields__}
    return Batch(**{**values, "input_ids": torch.where(hidden, other, batch.input_ids)})


@pytest.mark.parametrize("kind", ["tiny", "gru", *KINDS])
@pytest.mark.parametrize("masking", MASKINGS)
def test_hidden_pieces_cannot_influence_the_reading(encoders, kind, masking):
    """Exactly, in every masking: hidden attention weights underflow to 0, and 0 times a vector is 0."""
    encoder, batch = encoders[kind].new().eval(), some_batch(encoders[kind])
    mask = hard_mask(batch)
    with torch.no_grad():
        one = read_masked(encoder, batch, mask, masking).pooled
        two = read_masked(encoder, scrambled(batch, mask), mask, masking).pooled
    assert torch.isfinite(one).all()
    assert torch.equal(one, two)


@pytest.mark.parametrize("kind", ["tiny", "gru", *KINDS])
@pytest.mark.parametrize("masking", MASKINGS)
def test_shown_pieces_do_influence_it(encoders, kind, masking):
    encoder, batch = encoders[kind].new().eval(), some_batch(encoders[kind])
    mask = hard_mask(batch)
    with torch.no_grad():
        one = read_masked(encoder, batch, mask, masking).pooled
        two = read_masked(encoder, scrambled(batch, (1 - mask) * batch.selectable), mask, masking).pooled
    changed = (scrambled(batch, (1 - mask) * batch.selectable).input_ids != batch.input_ids).any(-1)
    assert changed.any()
    assert (one != two).any(-1)[changed].all()


@pytest.mark.parametrize("kind", ["tiny", "gru", *KINDS])
@pytest.mark.parametrize("masking", MASKINGS)
def test_showing_everything_is_the_full_reading(encoders, kind, masking):
    encoder, batch = encoders[kind].new().eval(), some_batch(encoders[kind])
    with torch.no_grad():
        full = encoder.read(batch.input_ids, batch.attention, batch.token_types)
        shown = read_masked(encoder, batch, batch.selectable.float(), masking)
    if masking == "attention":
        assert torch.allclose(full.pooled, shown.pooled, atol=1e-5)
    else:  # padding is outside the document, so its embedding may differ; nobody looks at it
        assert torch.allclose(full.pooled, shown.pooled, atol=1e-6)
        assert torch.allclose(full.hidden[batch.attention], shown.hidden[batch.attention], atol=1e-6)


@pytest.mark.parametrize("kind", ["tiny", "gru", *KINDS])
@pytest.mark.parametrize("masking", MASKINGS)
def test_bool_masks_hide_as_well_as_numbers(encoders, kind, masking):
    """In every row but the last the first document piece is hidden: a decoder's first place may see nothing."""
    encoder, batch = encoders[kind].new().eval(), some_batch(encoders[kind])
    mask = hard_mask(batch)
    first = batch.selectable.int().argmax(-1)
    mask[torch.arange(len(batch) - 1), first[:-1]] = 0
    with torch.no_grad():
        numbers = read_masked(encoder, batch, mask, masking).pooled
        one = read_masked(encoder, batch, mask.bool(), masking).pooled
        two = read_masked(encoder, scrambled(batch, mask), mask.bool(), masking).pooled
    assert torch.allclose(one, numbers, atol=1e-5)
    assert torch.equal(one, two)


def test_mix_of_one_is_exact_where_there_is_no_padding(encoders):
    encoder = encoders["tiny"].new().eval()
    batch = tiny_batch(tiny_corpus(1))
    with torch.no_grad():
        full = encoder.read(batch.input_ids, batch.attention, batch.token_types)
        shown = read_masked(encoder, batch, batch.selectable.float(), "mix")
    assert torch.equal(full.hidden, shown.hidden)


def test_mix_of_zero_reads_mask_pieces(encoders):
    factory = encoders["tiny"]
    encoder, batch = factory.new().eval(), some_batch(factory)
    masked = torch.where(batch.selectable, factory.tokenizer.mask_token_id, batch.input_ids)
    with torch.no_grad():
        plain = encoder.read(masked, batch.attention, batch.token_types)
        mixed = read_masked(encoder, batch, torch.zeros(batch.input_ids.shape), "mix")
    assert torch.allclose(plain.pooled, mixed.pooled, atol=1e-6)


@pytest.mark.parametrize("masking", MASKINGS)
def test_the_query_and_the_specials_are_always_read(encoders, masking):
    encoder = encoders["tiny"].new().eval()
    one, two = (tiny_batch([Example("x", "a joy to watch", query=query)]) for query in ("dull", "warm"))
    nothing = torch.zeros(one.input_ids.shape)
    assert one.input_ids.shape == two.input_ids.shape
    with torch.no_grad():
        readings = [read_masked(encoder, batch, nothing, masking).pooled for batch in (one, two)]
    assert not torch.allclose(*readings, atol=1e-4)


def test_what_is_shown(batch):
    mask = torch.full(batch.input_ids.shape, 0.3)
    shown = show_to_predictor(mask, batch)
    assert (shown[batch.visible] == 1).all()
    assert torch.allclose(shown[batch.selectable], torch.tensor(0.3))
    assert (shown[~batch.attention] == 0).all()


def test_a_mask_that_hides_a_whole_row_is_refused(batch):
    nothing = torch.zeros(batch.input_ids.shape)
    assert show_to_predictor(nothing, batch).any()  # the specials remain
    values = {name: getattr(batch, name) for name in batch.__dataclass_fields__}
    bare = Batch(**{**values, "visible": torch.zeros_like(batch.visible)})
    one_row = batch.selectable.float()
    one_row[2] = 0
    for mask in (nothing, one_row):
        with pytest.raises(ValueError, match="hides every piece of a row"):
            show_to_predictor(mask, bare)
    assert torch.equal(show_to_predictor(batch.selectable.float(), bare), batch.selectable.float())


def test_an_unknown_masking_is_refused(encoders, batch):
    with pytest.raises(ValueError, match="mix, zero, attention"):
        read_masked(encoders["tiny"].new(), batch, batch.selectable.float(), "delete")


@pytest.mark.parametrize("kind", ["tiny", "gru", *KINDS])
@pytest.mark.parametrize("masking", MASKINGS)
def test_soft_masks_get_a_gradient_and_hard_ends_give_numbers(encoders, kind, masking):
    encoder, batch = encoders[kind].new(), some_batch(encoders[kind])
    mask = torch.full(batch.input_ids.shape, 0.5)
    mask[:, ::3] = 0.0
    mask[:, 1::3] = 1.0
    mask.requires_grad_()
    read_masked(encoder, batch, mask, masking).pooled.square().sum().backward()
    assert torch.isfinite(mask.grad).all()
    assert (mask.grad[batch.selectable & (mask == 0.5)] != 0).any()
    assert (mask.grad[~batch.selectable] == 0).all()


@pytest.mark.parametrize("hard", [True, False])
@pytest.mark.parametrize("kind", ["tiny", "gru", *KINDS])
def test_leaving_hidden_pieces_out_changes_neither_the_vector_nor_the_masks_gradient(encoders, kind, hard):
    encoder, batch = encoders[kind].new().double().eval(), some_batch(encoders[kind])
    mask = hard_mask(batch).double()
    mask[0] = batch.selectable[0]  # rows of very different lengths
    if hard:
        found = [read(encoder, batch, mask > 0, "attention") for read in (pool_masked, unpacked)]
        torch.testing.assert_close(*found)
        return
    made = []
    for read in (pool_masked, unpacked):
        own = mask.clone().requires_grad_()
        pooled = read(encoder, batch, own, "attention")
        (gradient,) = torch.autograd.grad(pooled.square().sum(), own)
        made.append((pooled.detach(), gradient * batch.selectable))
    torch.testing.assert_close(*made)


def unpacked(encoder, batch, mask, masking):
    return read_masked(encoder, batch, mask, masking).pooled


def test_only_shown_pieces_are_read_where_an_encoder_can_do_without_the_others(encoders):
    lengths = {}
    for kind in ("tiny", "roberta", "llama"):
        encoder, batch = encoders[kind].new().eval(), some_batch(encoders[kind])
        seen = []
        encoder.register_forward_pre_hook(lambda _, args, seen=seen: seen.append(args[0].shape[1]))
        first = batch.selectable & (batch.words == 0)
        pool_masked(encoder, batch, first, "attention")
        pool_masked(encoder, batch, first.float() * 0.5, "attention")
        pool_masked(encoder, batch, first, "mix")
        lengths[kind] = [length < batch.input_ids.shape[1] for length in seen]
    assert lengths == {"tiny": [True, False, False], "roberta": [True, False, False], "llama": [False] * 3}
