"""A linear-chain conditional random field over the document pieces of each row.

b: rows, n: pieces, T: tags. A tag sequence t of a row's m present pieces scores
start[t_1] + Σ_i emissions[i, t_i] + Σ_i transitions[t_i, t_{i+1}] + end[t_m]; absent pieces (padding, specials,
the query) are no part of the chain. All sums of exponentials are taken in logarithms and at least in single
precision.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn


class Chain(NamedTuple):
    """Rows with their present pieces moved to the front. k: pieces of the longest row.

    Attributes:
        emissions: (b, k, T).
        present: (b, k) bool.
        places: (b, k), the original position of each piece.
    """

    emissions: Tensor
    present: Tensor
    places: Tensor


class Crf(nn.Module):
    """Scores of neighboring tags, of the first and of the last tag; all zero at first, so that pieces start
    independent."""

    def __init__(self, n_tags: int = 2) -> None:
        super().__init__()
        self.start = nn.Parameter(torch.zeros(n_tags))
        self.transitions = nn.Parameter(torch.zeros(n_tags, n_tags))
        self.end = nn.Parameter(torch.zeros(n_tags))

    def negative_log_likelihood(self, emissions: Tensor, tags: Tensor, present: Tensor) -> Tensor:
        """Return -log P(tags) per row. (b, n, T), (b, n) int, (b, n) bool -> (b,). Every row needs a present piece."""
        chain = compact(emissions, present)
        return self.log_partition(chain) - self._score(chain, tags.gather(1, chain.places))

    def log_partition(self, chain: Chain) -> Tensor:
        """Return log Σ exp(score) over all tag sequences. (b,)."""
        return (self._forward(chain)[:, -1] + self.end).logsumexp(-1)

    def marginals(self, emissions: Tensor, present: Tensor) -> Tensor:
        """Return P(tag of piece i = t), 0 for absent pieces. (b, n, T)."""
        chain = compact(emissions, present)
        found = (self._forward(chain) + self._backward(chain)).softmax(-1).to(emissions.dtype)
        return _spread(found, chain, emissions.shape)

    def viterbi(self, emissions: Tensor, present: Tensor) -> Tensor:
        """Return the likeliest tag sequence, 0 for absent pieces. (b, n) int."""
        chain = compact(emissions, present)
        best = self.start + chain.emissions[:, 0]
        came_from: list[Tensor] = []
        stay = torch.arange(len(self.start), device=best.device).expand_as(best)
        for now, here in _list_steps(chain):
            moved, origin = (best[:, :, None] + self.transitions).max(1)
            best = torch.where(here, moved + now, best)
            came_from.append(torch.where(here, origin, stay))
        tag = (best + self.end).argmax(-1, keepdim=True)
        tags = [tag]
        for origin in reversed(came_from):
            tag = origin.gather(1, tag)
            tags.append(tag)
        found = torch.cat(tags[::-1], 1)
        return _spread(found[..., None], chain, (*present.shape, 1)).squeeze(-1)

    def _score(self, chain: Chain, tags: Tensor) -> Tensor:
        """Score one tag sequence per row. (b,)."""
        emitted = chain.emissions.gather(2, tags[..., None]).squeeze(-1) * chain.present
        moved = self.transitions[tags[:, :-1], tags[:, 1:]] * chain.present[:, 1:]
        last = tags.gather(1, chain.present.sum(1, keepdim=True) - 1).squeeze(1)
        return self.start[tags[:, 0]] + emitted.sum(1) + moved.sum(1) + self.end[last]

    def _forward(self, chain: Chain) -> Tensor:
        """Sum (log Σ exp) the scores of all beginnings that end in tag t at piece i. (b, k, T)."""
        sums = [self.start + chain.emissions[:, 0]]
        for now, here in _list_steps(chain):
            moved = (sums[-1][:, :, None] + self.transitions).logsumexp(1) + now
            sums.append(torch.where(here, moved, sums[-1]))
        return torch.stack(sums, 1)

    def _backward(self, chain: Chain) -> Tensor:
        """Sum (log Σ exp) the scores of all endings after tag t at piece i. (b, k, T)."""
        sums = [self.end.expand(len(chain.emissions), -1)]
        for after, here in reversed(_list_steps(chain)):
            moved = (self.transitions + (after + sums[-1])[:, None, :]).logsumexp(2)
            sums.append(torch.where(here, moved, sums[-1]))
        return torch.stack(sums[::-1], 1)


def compact(emissions: Tensor, present: Tensor) -> Chain:
    """Move each row's present pieces to the front, in order, and cut off what no row fills."""
    longest = max(1, int(present.sum(1).max()))
    places = (~present).long().argsort(dim=1, stable=True)[:, :longest]
    precise = emissions.to(torch.promote_types(emissions.dtype, torch.float32))
    moved = precise.gather(1, places[..., None].expand(-1, -1, emissions.shape[2]))
    return Chain(moved, present.gather(1, places), places)


def _list_steps(chain: Chain) -> list[tuple[Tensor, Tensor]]:
    """List, from the second piece on, a piece's emissions (b, T) and whether it is present (b, 1)."""
    return list(zip(chain.emissions.unbind(1)[1:], chain.present[..., None].unbind(1)[1:], strict=True))


def _spread(values: Tensor, chain: Chain, shape: tuple[int, ...]) -> Tensor:
    """Put values (b, k, T) back at the original positions, 0 elsewhere. (b, n, T)."""
    values = values * chain.present[..., None]
    return values.new_zeros(shape).scatter(1, chain.places[..., None].expand_as(values), values)
