"""Gradients of several processes: their mean, and their norm, be the weights whole or kept in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from rationalize.models.weights import is_sharded, to_whole
from rationalize.processes import Group

BUCKET = 1 << 24
"""Numbers that are exchanged at once."""


def average_gradients(parameters: Sequence[nn.Parameter], group: Group) -> None:
    """Replace gradients by their mean over all processes; those of weights in parts are means already."""
    for bucket in _fill_buckets([each for each in parameters if not is_sharded(each)]):
        flat = torch.cat([gradient.reshape(-1) for gradient in bucket])
        group.sum(flat)
        flat /= group.size
        start = 0
        for gradient in bucket:
            gradient.copy_(flat[start : start + gradient.numel()].view_as(gradient))
            start += gradient.numel()


def _fill_buckets(parameters: Sequence[nn.Parameter]) -> Iterator[list[Tensor]]:
    bucket: list[Tensor] = []
    for parameter in parameters:
        if parameter.grad is None:  # in all processes, since all compute the same losses
            continue
        bucket.append(parameter.grad)
        if sum(each.numel() for each in bucket) >= BUCKET:
            yield bucket
            bucket = []
    if bucket:
        yield bucket


def clip_gradients(parameters: Sequence[nn.Parameter], most: float) -> Tensor:
    """Scale gradients down to a norm of at most `most`; return the norm before."""
    parted = [each for each in parameters if is_sharded(each)]
    if not parted:
        return torch.nn.utils.clip_grad_norm_(parameters, most)
    groups = [[each for each in parameters if not is_sharded(each)], parted]
    norms = [
        to_whole(torch.nn.utils.get_total_norm([each.grad for each in some if each.grad is not None]))
        for some in groups
    ]
    norm = torch.stack(norms).square().sum().sqrt()
    for some in groups:
        torch.nn.utils.clip_grads_with_norm_(some, most, norm)
    return norm
