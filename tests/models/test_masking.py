"""Masking: what is hidden cannot be read. Identities of hidden pieces are changed and nothing may move."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from helpers import tiny_batch, tiny_corpus, tiny_encoders
from local_encoders import KINDS, save_local
from rationalize.config import EncoderConfig
from rationalize.models.encoder import EncoderFactory
from rationalize.models.masking import MASKINGS, PACKED_PADDING, pool_masked, read_masked, show_to_predictor
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


@torch.no_grad()
def read_both(factory, one, other, mask, masking):
    encoder = factory.make().eval()
    return (read_masked(encoder, batch, mask, masking).pooled for batch in (one, other))


@pytest.mark.parametrize("kind", ["tiny", "gru", *KINDS])
@pytest.mark.parametrize("masking", MASKINGS)
def test_hidden_pieces_cannot_influence_the_reading(encoders, kind, masking):
    """Exactly, in every masking: hidden attention weights underflow to 0, and 0 times a vector is 0."""
    batch = some_batch(encoders[kind])
    mask = hard_mask(batch)
    one, two = read_both(encoders[kind], batch, scrambled(batch, mask), mask, masking)
    assert torch.isfinite(one).all()
    assert torch.equal(one, two)


@pytest.mark.parametrize("kind", ["tiny", "gru", *KINDS])
@pytest.mark.parametrize("masking", MASKINGS)
def test_shown_pieces_do_influence_it(encoders, kind, masking):
    batch = some_batch(encoders[kind])
    mask = hard_mask(batch)
    other = scrambled(batch, (1 - mask) * batch.selectable)
    one, two = read_both(encoders[kind], batch, other, mask, masking)
    changed = (other.input_ids != batch.input_ids).any(-1)
    assert changed.any()
    assert (one != two).any(-1)[changed].all()


@pytest.mark.parametrize("kind", ["tiny", "gru", *KINDS])
@pytest.mark.parametrize("masking", MASKINGS)
def test_showing_everything_is_the_full_reading(encoders, kind, masking):
    encoder, batch = encoders[kind].make().eval(), some_batch(encoders[kind])
    with torch.no_grad():
        full = encoder.read(batch)
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
    encoder, batch = encoders[kind].make().eval(), some_batch(encoders[kind])
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
    encoder = encoders["tiny"].make().eval()
    batch = tiny_batch(tiny_corpus(1))
    with torch.no_grad():
        full = encoder.read(batch)
        shown = read_masked(encoder, batch, batch.selectable.float(), "mix")
    assert torch.equal(full.hidden, shown.hidden)


def test_mix_of_zero_reads_mask_pieces(encoders):
    factory = encoders["tiny"]
    encoder, batch = factory.make().eval(), some_batch(factory)
    masked = torch.where(batch.selectable, factory.tokenizer.mask_token_id, batch.input_ids)
    with torch.no_grad():
        plain = encoder.read(replace(batch, input_ids=masked))
        mixed = read_masked(encoder, batch, torch.zeros(batch.input_ids.shape), "mix")
    assert torch.allclose(plain.pooled, mixed.pooled, atol=1e-6)


@pytest.mark.parametrize("masking", MASKINGS)
def test_the_query_and_the_specials_are_always_read(encoders, masking):
    encoder = encoders["tiny"].make().eval()
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
        read_masked(encoders["tiny"].make(), batch, batch.selectable.float(), "delete")


@pytest.mark.parametrize("kind", ["tiny", "gru", *KINDS])
@pytest.mark.parametrize("masking", MASKINGS)
def test_soft_masks_get_a_gradient_and_hard_ends_give_numbers(encoders, kind, masking):
    encoder, batch = encoders[kind].make(), some_batch(encoders[kind])
    mask = torch.full(batch.input_ids.shape, 0.5)
    mask[:, ::3] = 0.0
    mask[:, 1::3] = 1.0
    mask.requires_grad_()
    read_masked(encoder, batch, mask, masking).pooled.square().sum().backward()
    assert torch.isfinite(mask.grad).all()
    assert (mask.grad[batch.selectable & (mask == 0.5)] != 0).any()
    assert (mask.grad[~batch.selectable] == 0).all()


@pytest.mark.parametrize("kind", ["tiny", "gru", *KINDS])
def test_leaving_hidden_pieces_out_does_not_change_the_vector(encoders, kind):
    encoder, batch = encoders[kind].make().double().eval(), some_batch(encoders[kind])
    mask = hard_mask(batch)
    for shown in (mask.bool(), mask.double()):
        packed = pool_masked(encoder, batch, shown, "attention")
        torch.testing.assert_close(packed, read_masked(encoder, batch, shown, "attention").pooled)


def slopes(encoder, batch, mask, masking="attention", along=None):
    """The pooled vectors, and the mask's gradient of some function of them."""
    own = mask.clone().requires_grad_()
    pooled = pool_masked(encoder, batch, own, masking)
    along = torch.linspace(-1, 1, pooled.shape[1]) if along is None else along
    (found,) = torch.autograd.grad((pooled * along).sum(), own)
    return pooled.detach(), found


def test_where_attention_takes_no_gates_hidden_pieces_have_a_slope_by_pooling_alone(encoders):
    for pooling in ("cls", "mean"):
        factory = encoders["mpnet"]
        factory = replace(factory, config=factory.config.model_copy(update={"pooling": pooling}))
        encoder, batch = factory.make().eval(), some_batch(factory)
        mask = hard_mask(batch)
        _, found = slopes(encoder, batch, mask)
        hidden = batch.selectable & (mask == 0)
        assert not encoder.has_gates
        assert bool((found[hidden] != 0).any()) == (pooling == "mean")


@pytest.mark.parametrize("pooling", ["cls", "mean", "last"])
@pytest.mark.parametrize("kind", ["tiny", *sorted(set(KINDS) - {"mpnet"})])
def test_every_hidden_piece_has_a_slope_and_values_are_those_of_the_hard_mask(encoders, kind, pooling):
    factory = encoders[kind]
    factory = replace(factory, config=factory.config.model_copy(update={"pooling": pooling}))
    encoder, batch = factory.make().eval(), some_batch(factory)
    mask = hard_mask(batch)
    pooled, found = slopes(encoder, batch, mask)
    with torch.no_grad():
        assert torch.equal(pooled, read_masked(encoder, batch, mask, "attention").pooled)
    seen = batch.selectable
    if encoder.causal:  # whoever is pooled, or stands before it, cannot look ahead
        last = torch.zeros_like(seen) if pooling == "cls" else (mask > 0) | batch.visible
        seen = seen & (last.flip(-1).cumsum(-1).flip(-1) > 0)
    if encoder.causal and pooling == "cls":
        assert not found[seen].any()
    else:
        assert (found[seen] != 0).all()
    assert (found[~batch.selectable] == 0).all()


@pytest.mark.parametrize("masking", MASKINGS)
@pytest.mark.parametrize("kind", ["tiny", "gru", *KINDS])
def test_a_rows_slopes_do_not_depend_on_its_company(encoders, kind, masking):
    encoder, batch = encoders[kind].make().double().eval(), some_batch(encoders[kind])
    mask = hard_mask(batch).double()
    mask[1] = 0  # next to nothing is shown of this one, everything of that one
    mask[2] = batch.selectable[2].double()
    _, together = slopes(encoder, batch, mask, masking)
    for row in range(len(batch)):
        one = slice(row, row + 1)
        _, alone = slopes(encoder, batch.rows(one), mask[one], masking)
        torch.testing.assert_close(alone, together[one])


def test_slopes_are_those_of_the_stated_surrogate(encoders):
    """Finite differences: every layer adds (m - m̄)_j · share_ij · (v_j - o_i) to what query i sees, and pooling
    weighs by m."""
    factory = encoders["roberta"]
    factory = replace(factory, config=factory.config.model_copy(update={"pooling": "mean"}))
    encoder, batch = factory.make().double().eval(), some_batch(factory)
    mask, step = hard_mask(batch).double(), 1e-5
    _, found = slopes(encoder, batch, mask)
    for row, piece in batch.selectable.nonzero()[::7].tolist():
        nudge = torch.zeros_like(mask)
        nudge[row, piece] = step
        up, down = (surrogate(encoder, batch, mask, sign * nudge) for sign in (1, -1))
        slope = ((up - down) * torch.linspace(-1, 1, up.shape[1])).sum() / (2 * step)
        assert found[row, piece].item() == pytest.approx(slope.item(), rel=1e-5, abs=1e-9), (row, piece)


@torch.no_grad()
def surrogate(encoder, batch, mask, nudge):
    """The pooled vector where gates are m + nudge, by an attention written out here."""
    shown = show_to_predictor(mask, batch)

    def attend(module, query, key, value, attention_mask, scaling, **_):
        weights = (query @ key.mT * scaling).exp()
        total = (weights * shown[:, None, None]).sum(-1, keepdim=True)
        seen = (weights * shown[:, None, None]) @ value / total
        share = torch.where(shown[:, None, None] > 0, weights / total, weights / (weights + total))
        added = nudge[:, None, None] * share
        return (seen + added @ value - added.sum(-1, keepdim=True) * seen).transpose(1, 2), None

    ALL_ATTENTION_FUNCTIONS.register("by_hand", attend)
    encoder.model.config._attn_implementation = "by_hand"
    try:
        embedded = encoder.embed(batch.input_ids)
        hidden, weights = encoder(embedded, shown, batch.token_types).hidden, (shown + nudge)[..., None]
        return (hidden * weights).sum(1) / weights.sum(1)
    finally:
        encoder.model.config._attn_implementation = "sdpa"


def test_only_shown_pieces_are_read_where_an_encoder_and_a_gradient_can_do_without_the_others(encoders):
    lengths = {}
    for kind in ("tiny", "roberta", "llama"):
        encoder, batch = encoders[kind].make().eval(), some_batch(encoders[kind])
        seen = []
        encoder.register_forward_pre_hook(lambda _, args, seen=seen: seen.append(args[0].shape[1]))
        first = batch.selectable & (batch.words == 0)
        pool_masked(encoder, batch, first, "attention")
        pool_masked(encoder, batch, first.float() * 0.5, "attention")
        pool_masked(encoder, batch, first, "mix")
        wanted = first.float().requires_grad_()
        pool_masked(encoder, batch, wanted, "attention")
        with torch.no_grad():
            pool_masked(encoder, batch, wanted, "attention")
        lengths[kind] = [length < batch.input_ids.shape[1] for length in seen]
    packs = [True, False, False, False, True]
    assert lengths == {"tiny": packs, "roberta": packs, "llama": [False] * 5}


@pytest.mark.parametrize(
    ("pooling", "share"),
    [
        pytest.param(*each, marks=pytest.mark.slow)
        for each in (("mean", 0.2), ("cls", 0.2), ("mean", 0.5), ("cls", 0.5))
    ],
)
def test_slopes_foretell_what_showing_a_hidden_piece_does_to_a_pretrained_encoder(pooling, share):
    tokenizer = load_tokenizer("minilm")
    config = EncoderConfig(name="minilm", max_tokens=64, pooling=pooling)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        encoder = EncoderFactory(config, tokenizer).make().eval()
    text = (
        "the movie was a truly gripping story from start to end , and i loved every minute of it . robert downey "
        "jr gives a fine performance , though the plot is thin at times and the music too loud ."
    )
    batch = tiny_batch([Example("one", text)], 64, tokenizer)
    generator = torch.Generator().manual_seed(0)
    made = [effects_and_slopes(encoder, batch, share, generator) for _ in range(5)]
    effects, told, blended = (torch.cat(parts) for parts in zip(*made, strict=True))
    assert torch.corrcoef(torch.stack([told, effects]))[0, 1] > 0.8
    assert torch.corrcoef(torch.stack([blended, effects]))[0, 1] < 0.3
    assert 0.5 < told.norm() / effects.norm() < 2


def effects_and_slopes(encoder, batch, share, generator):
    """Of every hidden piece of a drawn mask: what showing it does to a drawn function of the vector, and its slopes."""
    drawn = torch.rand(batch.input_ids.shape, generator=generator)
    along = torch.randn(encoder.hidden_size, generator=generator)
    mask = ((drawn < share) & batch.selectable).float()
    hidden = (batch.selectable & (mask == 0)).nonzero()[:, 1]
    opened = torch.cat([mask, mask.repeat(len(hidden), 1)])
    opened[1 + torch.arange(len(hidden)), hidden] = 1
    with torch.no_grad():
        many = batch.rows(torch.zeros(len(opened), dtype=torch.long))
        values = read_masked(encoder, many, opened, "attention").pooled @ along
    found = (slopes(encoder, batch, mask, masking, along)[1][0, hidden] for masking in ("attention", "mix"))
    return values[1:] - values[0], *found


def test_rows_that_show_few_pieces_are_not_padded_to_those_that_show_many(monkeypatch):
    monkeypatch.setattr("rationalize.models.masking.FEW_PIECES", 1)
    batch = tiny_batch(tiny_corpus(6))
    encoder = tiny_encoders().make().eval()
    places = torch.arange(batch.input_ids.shape[1])
    mask = batch.selectable & (places[None] < torch.tensor([4, 20, 4, 5, 20, 4])[:, None])
    read = []
    hook = encoder.register_forward_hook(lambda _, inputs, out: read.append(inputs[0].shape[:2]))
    with torch.no_grad():
        pooled = pool_masked(encoder, batch, mask, "attention")
        hook.remove()
        expected = read_masked(encoder, batch, mask, "attention").pooled
    torch.testing.assert_close(pooled, expected, rtol=1e-4, atol=1e-5)
    shown = int((mask | batch.visible).sum())
    assert len(read) == 2
    assert sum(rows * width for rows, width in read) <= shown / (1 - PACKED_PADDING)
