"""The chain against all tag sequences written out, an example by hand, and indifference to what is absent."""

from __future__ import annotations

import math
from itertools import pairwise, product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from rationalize.models.crf import Crf
from searches import search

CASES = st.tuples(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 7), st.integers(2, 3))


def random_crf(generator, n_tags):
    crf = Crf(n_tags).double()
    for parameter in crf.parameters():
        nn.init.normal_(parameter, std=1.5, generator=generator)
    return crf


def random_case(seed, rows, pieces, n_tags):
    """Emissions, tags and any pattern of present pieces with at least one per row."""
    generator = torch.Generator().manual_seed(seed)
    crf = random_crf(generator, n_tags)
    emissions = 2 * torch.randn(rows, pieces, n_tags, generator=generator, dtype=torch.float64)
    present = torch.rand(rows, pieces, generator=generator) < 0.7
    present[torch.arange(rows), torch.randint(pieces, (rows,), generator=generator)] = True
    tags = torch.randint(n_tags, (rows, pieces), generator=generator)
    return crf, emissions, tags, present


def written_out(crf, emissions, present):
    """Every tag sequence of one row's present pieces, with its score."""
    own = emissions[present].tolist()
    start, moves, end = crf.start.tolist(), crf.transitions.tolist(), crf.end.tolist()
    for tags in product(range(len(start)), repeat=len(own)):
        score = start[tags[0]] + end[tags[-1]] + sum(row[tag] for row, tag in zip(own, tags, strict=True))
        yield tags, score + sum(moves[a][b] for a, b in pairwise(tags))


@search(60)
@given(case=CASES)
def test_it_agrees_with_all_sequences_written_out(case):
    crf, emissions, tags, present = random_case(*case)
    with torch.no_grad():
        losses = crf.negative_log_likelihood(emissions, tags, present)
        marginals, best = crf.marginals(emissions, present), crf.viterbi(emissions, present)
    for row, here in enumerate(present):
        everything = list(written_out(crf, emissions[row], here))
        log_z = math.log(sum(math.exp(score) for _, score in everything))
        said = dict(everything)[tuple(tags[row][here].tolist())]
        assert losses[row].item() == pytest.approx(log_z - said, abs=1e-9)
        likeliest = max(everything, key=lambda item: item[1])[0]
        assert tuple(best[row][here].tolist()) == likeliest
        by_hand = torch.zeros(int(here.sum()), case[3], dtype=torch.float64)
        for sequence, score in everything:
            by_hand[torch.arange(len(sequence)), list(sequence)] += math.exp(score - log_z)
        torch.testing.assert_close(marginals[row][here], by_hand)
        assert not marginals[row][~here].any()
        assert not best[row][~here].any()


def test_two_pieces_by_hand():
    """Without transitions all four sequences of two pieces weigh 1·1, 1·2, 3·1, 3·2; staying doubles a weight."""
    crf = Crf().double()
    with torch.no_grad():
        crf.transitions.copy_(torch.tensor([[2.0, 1.0], [1.0, 2.0]]).log())
    emissions = torch.tensor([[[1.0, 3.0], [1.0, 2.0]]], dtype=torch.float64).log()
    everywhere = torch.ones(1, 2, dtype=torch.bool)
    weights = {(0, 0): 2.0, (0, 1): 2.0, (1, 0): 3.0, (1, 1): 12.0}
    for tags, weight in weights.items():
        loss = crf.negative_log_likelihood(emissions, torch.tensor([tags]), everywhere)
        assert loss.item() == pytest.approx(math.log(19 / weight))
    first_is_one = crf.marginals(emissions, everywhere)[0, :, 1]
    assert first_is_one.tolist() == pytest.approx([15 / 19, 14 / 19])
    assert crf.viterbi(emissions, everywhere).tolist() == [[1, 1]]


def test_untrained_it_judges_each_piece_for_itself():
    emissions = torch.randn(3, 5, 2, generator=torch.Generator().manual_seed(1))
    everywhere = torch.ones(3, 5, dtype=torch.bool)
    crf = Crf()
    torch.testing.assert_close(crf.marginals(emissions, everywhere), emissions.softmax(-1))
    assert torch.equal(crf.viterbi(emissions, everywhere), emissions.argmax(-1))


def test_gradients_are_those_of_finite_differences():
    crf, emissions, tags, present = random_case(5, 2, 4, 2)
    emissions.requires_grad_()
    # gradcheck moves its inputs in place, the module's own parameters among them.
    assert torch.autograd.gradcheck(
        lambda emissions, *_: crf.negative_log_likelihood(emissions, tags, present),
        (emissions, *crf.parameters()),
    )


def test_the_gradient_of_log_z_is_the_marginals():
    """A second road to the same numbers."""
    crf, emissions, tags, present = random_case(8, 3, 6, 2)
    emissions.requires_grad_()
    loss = crf.negative_log_likelihood(emissions, tags, present).sum()
    [gradient] = torch.autograd.grad(loss, emissions)
    expected = nn.functional.one_hot(tags, 2) * present[..., None]
    torch.testing.assert_close(gradient + expected, crf.marginals(emissions, present).detach())


def test_what_is_absent_changes_nothing():
    crf, emissions, tags, present = random_case(3, 3, 7, 2)
    noise = torch.randn(emissions.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    other = torch.where(present[..., None], emissions, 1e3 * noise)
    other_tags = torch.where(present, tags, 1 - tags)
    wide = nn.functional.pad(other, (0, 0, 2, 3)), nn.functional.pad(other_tags, (2, 3))
    shown = nn.functional.pad(present, (2, 3))
    torch.testing.assert_close(
        crf.negative_log_likelihood(emissions, tags, present), crf.negative_log_likelihood(*wide, shown)
    )
    torch.testing.assert_close(crf.marginals(emissions, present), crf.marginals(wide[0], shown)[:, 2:-3])
    assert torch.equal(crf.viterbi(emissions, present), crf.viterbi(wide[0], shown)[:, 2:-3])


def test_rows_without_a_piece_are_tagged_with_nothing():
    present = torch.tensor([[False, False], [True, False]])
    emissions = torch.tensor([[[0.0, 9.0]] * 2] * 2)
    assert Crf().viterbi(emissions, present).tolist() == [[0, 0], [1, 0]]
    marginals = Crf().marginals(emissions, present)
    assert marginals.isfinite().all()
    assert not marginals[~present].any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_long_rows_and_large_scores_stay_numbers(dtype):
    emissions = (1e4 * torch.randn(2, 600, 2, generator=torch.Generator().manual_seed(4))).to(dtype)
    present = torch.ones(2, 600, dtype=torch.bool)
    tags = emissions.argmin(-1)
    crf = Crf()
    losses = crf.negative_log_likelihood(emissions, tags, present)
    assert losses.dtype == torch.float32
    losses.sum().backward()
    assert losses.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in crf.parameters())
    assert crf.marginals(emissions, present).isfinite().all()
