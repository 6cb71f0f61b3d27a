"""Losses as pure functions, each with its equation. b: rows, n: word pieces, C: classes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F


def selected_share(mask: Tensor, selectable: Tensor) -> Tensor:
    """Return the selected share of each row's selectable pieces. (b, n) -> (b,)."""
    return (mask * selectable).sum(-1) / selectable.sum(-1).clamp(min=1)


def sparsity(mask: Tensor, selectable: Tensor, target: float, kind: str = "instance") -> Tensor:
    """Return the distance between the selected share and its target α.

    instance: mean_b |share_b - α| (the paper); batch: |share of the whole batch - α|;
    hinge: mean_b max(0, share_b - α), which only forbids selecting too much.
    """
    if kind == "batch":
        return ((mask * selectable).sum() / selectable.sum().clamp(min=1) - target).abs()
    excess = selected_share(mask, selectable) - target
    return (excess.clamp(min=0) if kind == "hinge" else excess.abs()).mean()


def continuity(mask: Tensor, selectable: Tensor, kind: str = "mean") -> Tensor:
    """Return the switches between neighbors, Σ_i |m_i - m_{i-1}|, averaged over rows.

    sum: as printed in the paper; mean: divided by the number of neighboring pairs, as in its code.
    """
    return _reduce_pairs((mask[:, 1:] - mask[:, :-1]).abs(), selectable, kind)


def expected_switches(chance: Tensor, selectable: Tensor, kind: str = "mean") -> Tensor:
    """Return the expected `continuity` of a mask that selects piece i with probability `chance` (b, n), independently.

    P(m_i ≠ m_{i-1}) = p_i (1 - p_{i-1}) + (1 - p_i) p_{i-1}.
    """
    here, before = chance[:, 1:], chance[:, :-1]
    return _reduce_pairs(here * (1 - before) + (1 - here) * before, selectable, kind)


def _reduce_pairs(switches: Tensor, selectable: Tensor, kind: str) -> Tensor:
    pairs = selectable[:, 1:] & selectable[:, :-1]
    total = (switches * pairs).sum(-1)
    return (total / pairs.sum(-1).clamp(min=1) if kind == "mean" else total).mean()


def bernoulli_kl(logits: Tensor, prior: float) -> Tensor:
    """Return KL(Bern(σ(logit)) ‖ Bern(prior)) for each entry; the prior is strictly between 0 and 1."""
    chance = logits.sigmoid()
    taken = chance * (F.logsigmoid(logits) - math.log(prior))
    return taken + (1 - chance) * (F.logsigmoid(-logits) - math.log1p(-prior))


def select_cross_entropy(
    logits: Tensor, gold: Tensor, where: Tensor, positive_weight: float | str | None = None
) -> Tensor:
    """Return the cross-entropy of the selection logits (b, n, 2) against the gold mask, mean over `where`.

    positive_weight multiplies the terms of gold pieces; "balanced" means #other / #gold in this batch.
    """
    wanted = gold[where].long()
    extra = weigh_positives(wanted, positive_weight)
    weight = None if extra is None else logits.new_tensor([1.0, extra])
    return F.cross_entropy(logits[where], wanted, weight=weight)


def weigh_positives(wanted: Tensor, positive_weight: float | str | None) -> float | None:
    """Return the weight of gold pieces among these choices (0 or 1); "balanced": #other / #gold of them."""
    if positive_weight == "balanced":
        return max(1, int((wanted == 0).sum())) / max(1, int(wanted.sum()))
    return None if positive_weight is None else float(positive_weight)


def uniform_kl(logits: Tensor) -> Tensor:
    """Return KL(uniform ‖ softmax(logits)), mean over the batch. logits: (b, C)."""
    return -logits.log_softmax(-1).mean(-1).mean() - math.log(logits.shape[-1])


def q_to_uniform_kl(logits: Tensor) -> Tensor:
    """Return KL(softmax(logits) ‖ uniform), mean over the batch; at most log C. logits: (b, C)."""
    log_p = logits.log_softmax(-1)
    return (log_p.exp() * log_p).sum(-1).mean() + math.log(logits.shape[-1])


def uniform_divergence(logits: Tensor, direction: str) -> Tensor:
    """Return `uniform_kl` ("uniform_to_q") or `q_to_uniform_kl` ("q_to_uniform")."""
    return uniform_kl(logits) if direction == "uniform_to_q" else q_to_uniform_kl(logits)


def kl_divergence(target: Tensor, logits: Tensor) -> Tensor:
    """Return KL(softmax(target) ‖ softmax(logits)), mean over the batch. (b, C)."""
    return _diverge(target, logits).mean()


def imitation(logits: Tensor, shown: Tensor, selectable: Tensor) -> Tensor:
    """Return KL(softmax(shown) ‖ softmax(logits)) of two selections (b, n, 2), mean over a row's pieces, then rows."""
    apart = _diverge(shown, logits) * selectable
    return (apart.sum(-1) / selectable.sum(-1).clamp(min=1)).mean()


def _diverge(target: Tensor, logits: Tensor) -> Tensor:
    """Return KL(softmax(target) ‖ softmax(logits)) of every choice. (…, C) -> (…)."""
    log_p, log_q = target.log_softmax(-1), logits.log_softmax(-1)
    return (log_p.exp() * (log_p - log_q)).sum(-1)


def js_divergence(target: Tensor, logits: Tensor) -> Tensor:
    """Return the Jensen-Shannon divergence between both softmaxes, mean over the batch; at most log 2. (b, C)."""
    log_p, log_q = target.log_softmax(-1), logits.log_softmax(-1)
    log_middle = torch.logaddexp(log_p, log_q) - math.log(2)
    halves = log_p.exp() * (log_p - log_middle) + log_q.exp() * (log_q - log_middle)
    return halves.sum(-1).mean() / 2


def hinge(loss: Tensor, rival: Tensor, margin: float = 0.0) -> Tensor:
    """Return max(0, loss - rival + margin): 0 once the rival is worse by the margin."""
    return (loss - rival + margin).clamp(min=0)


def squared_distance(left: Tensor, right: Tensor) -> Tensor:
    """Return ‖left - right‖², summed over dimensions, mean over the batch. (b, d)."""
    return (left - right).square().sum(-1).mean()


def log_norm(vectors: Tensor) -> Tensor:
    """Return log(1e-6 + ‖v‖₂), mean over the batch. (b, d)."""
    lengths: Tensor = torch.linalg.vector_norm(vectors, dim=-1)
    return (1e-6 + lengths).log().mean()


def task_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the cross-entropy of the class logits, mean over the batch."""
    return F.cross_entropy(logits, labels)


def read_numbers(groups: Sequence[Mapping[str, Tensor]]) -> list[dict[str, float]]:
    """Return groups of single numbers as Python's, in one copy from the device."""
    # Stacking takes the finest precision among them, so that nothing is rounded.
    numbers = torch.stack([each.detach().reshape(()) for group in groups for each in group.values()])
    values = iter(numbers.tolist())
    return [{name: next(values) for name in group} for group in groups]
