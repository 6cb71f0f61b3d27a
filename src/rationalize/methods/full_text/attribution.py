"""Find the pieces of a text that a trained classifier relies on, after training.

Everything but attention uses f(m): the evidence for the predicted class when the mask m (b, n) determines how much of
each document piece is shown. f(1) is the full text, f(0) the text with every piece hidden.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import NamedTuple

import torch
from torch import Tensor

from rationalize.models.reading import Reading
from rationalize.models.transformer_encoder import TransformerEncoder
from rationalize.seeding import generator_for
from rationalize.text.batch import Batch

Predict = Callable[[Batch, Tensor], Tensor]


class Attributions(NamedTuple):
    """Attributions of the pieces (b, n), 0 outside the document, and class logits of the full text (b, C)."""

    pieces: Tensor
    logits: Tensor


def evidence(logits: Tensor, target: Tensor) -> Tensor:
    """Return the target's logit minus the other classes' mean: a softmax sees only differences. (b, C) -> (b,)."""
    own = logits.gather(-1, target[:, None]).squeeze(-1)
    return own - (logits.sum(-1) - own) / (logits.shape[-1] - 1)


def gradient(predict: Predict, batch: Batch, dtype: torch.dtype = torch.float32) -> Attributions:
    """Return ∂f/∂m at m = 1. If hiding scales embeddings to zero, this is gradient times input."""
    slope, logits = _compute_slope(predict, batch, batch.selectable.to(dtype))
    return Attributions(slope, logits)


def integrated_gradients(
    predict: Predict, batch: Batch, steps: int, dtype: torch.dtype = torch.float32
) -> Attributions:
    """Return ∫ ∂f/∂m dα along m = α, by the midpoint rule. A row's attributions sum to f(1) - f(0)."""
    whole = batch.selectable.to(dtype)
    logits = predict(batch, whole)
    target = logits.argmax(-1)
    total = torch.zeros_like(whole)
    for step in range(steps):
        total += _compute_slope(predict, batch, whole * ((step + 0.5) / steps), target)[0]
    return Attributions(total / steps, logits)


def _compute_slope(
    predict: Predict, batch: Batch, mask: Tensor, target: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the gradient of the evidence for the target (or the predicted class) at a mask, and the logits."""
    with torch.enable_grad():
        mask = mask.detach().clone().requires_grad_()
        logits = predict(batch, mask)
        for_class = logits.detach().argmax(-1) if target is None else target
        (slope,) = torch.autograd.grad(evidence(logits, for_class).sum(), mask)
    return slope * batch.selectable, logits.detach()


def leave_one_out(predict: Predict, batch: Batch, chunk: int = 64) -> Attributions:
    """Return f(1) - f(1 without the word) for each of the word's pieces; reads `chunk` texts at a time."""
    logits = predict(batch, batch.selectable)
    target = logits.argmax(-1)
    whole = evidence(logits, target)
    pieces = torch.zeros(batch.selectable.shape, dtype=logits.dtype, device=logits.device)
    words = find_first_pieces(batch).nonzero()
    for start in range(0, len(words), chunk):
        rows, columns = words[start : start + chunk].unbind(-1)
        some = batch.rows(rows)
        word = some.words == batch.words[rows, columns][:, None]
        without = evidence(predict(some, some.selectable & ~word), target[rows])
        pieces.index_add_(0, rows, (whole[rows] - without)[:, None] * (word & some.selectable))
    return Attributions(pieces, logits)


def measure_attention(encoder: TransformerEncoder, batch: Batch) -> tuple[Tensor, Reading]:
    """Measure the last layer's attention to each piece, mean over heads, from where the text's vector is pooled."""
    twin = _copy_unfused(encoder)
    seen: list[Tensor] = []
    twin.model.register_forward_hook(lambda module, arguments, out: seen.extend(out.attentions))
    reading = twin.read(batch)
    looks = seen[-1].mean(1)  # (b, looking, looked at)
    if encoder.pooling == "cls":
        received = looks[:, 0]
    elif encoder.pooling == "last":
        received = looks[torch.arange(len(batch), device=looks.device), batch.attention.sum(-1) - 1]
    else:
        looking = batch.attention.to(looks.dtype)[..., None]
        received = (looks * looking).sum(1) / looking.sum(1)
    return received * batch.selectable, reading


def _copy_unfused(encoder: TransformerEncoder) -> TransformerEncoder:
    """Copy the encoder on the same weights, with attention that returns its weights; the usual fused one does not.

    The encoder itself must not be switched: other threads may be reading with it.
    """
    shared = {id(tensor): tensor for tensor in (*encoder.parameters(), *encoder.buffers())}
    twin = deepcopy(encoder, shared)
    twin.model.set_attn_implementation("eager")
    twin.model.config.output_attentions = True
    return twin


def draw_scores(batch: Batch, seed: int) -> Tensor:
    """Draw a number in [0, 1) per word that depends on text and seed alone: the control. (b, n)."""
    scores = torch.zeros(batch.selectable.shape, device=batch.selectable.device)
    for row, own in enumerate(batch.selectable):
        if bool(own.any()):
            words = batch.words[row, own]
            generator = generator_for(seed, "random attribution", *batch.input_ids[row, own].tolist())
            drawn = torch.rand(int(words.max() - words.min()) + 1, generator=generator, device="cpu")
            scores[row, own] = drawn.to(scores.device)[words - words.min()]
    return scores


def find_first_pieces(batch: Batch) -> Tensor:
    """Find the first piece of every word. (b, n) bool."""
    before = torch.nn.functional.pad(batch.words[:, :-1], (1, 0), value=-1)
    return batch.selectable & (batch.words >= 0) & (batch.words != before)


def sum_by_word(pieces: Tensor, batch: Batch) -> Tensor:
    """Give each piece the sum over its word's pieces. (b, n)."""
    keys = batch.words.clamp(min=0)
    totals = pieces.new_zeros(len(pieces), int(keys.max()) + 1)
    return totals.scatter_add(1, keys, pieces * batch.selectable).gather(1, keys) * batch.selectable


def stretch_scores(values: Tensor, selectable: Tensor) -> Tensor:
    """Stretch the document pieces' values to [0, 1] in each row; all 1 if they are equal. (b, n)."""
    low = values.masked_fill(~selectable, float("inf")).amin(-1, keepdim=True)
    high = values.masked_fill(~selectable, float("-inf")).amax(-1, keepdim=True)
    stretched = torch.where(high > low, (values - low) / (high - low), 1.0)
    return torch.where(selectable, stretched, 0.0)
