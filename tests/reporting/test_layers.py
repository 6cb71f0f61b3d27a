from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rationalize.reporting.layers import Layer, collect_layers, cut_segments
from rationalize.types import Span

spans = st.lists(st.builds(Span, st.integers(-3, 30), st.integers(-3, 30)), max_size=6)


@given(st.text(max_size=25), st.dictionaries(st.sampled_from(Layer), spans))
def test_every_character_lies_under_exactly_its_layers(text, layers):
    segments = cut_segments(text, layers)
    assert "".join(segment.text for segment in segments) == text
    shown = [segment.layers for segment in segments for _ in segment.text]
    for position, found in enumerate(shown):
        expected = {
            layer for layer, own in layers.items() if any(span.start <= position < span.end for span in own)
        }
        assert found == expected


@given(st.text(max_size=25), st.dictionaries(st.sampled_from(Layer), spans))
def test_neighbors_differ_and_every_layer_that_begins_ends(text, layers):
    segments = cut_segments(text, layers)
    assert all(left.layers != right.layers for left, right in pairwise(segments))
    for layer in Layer:
        begins = [segment for segment in segments if layer in segment.begins]
        ends = [segment for segment in segments if layer in segment.ends]
        assert len(begins) == len(ends)


def test_touching_spans_are_one_run():
    (only,) = cut_segments("abcd", {Layer.GOLD: [Span(0, 2), Span(2, 4)]})
    assert only.begins == only.ends == {Layer.GOLD}


def test_layers_of_leaves_out_what_is_not_there(explanation):
    assert set(collect_layers(explanation)) == {Layer.SELECTED}
    assert set(collect_layers(explanation, gold=(), shortcuts=[Span(0, 1)])) == {
        Layer.SELECTED,
        Layer.SHORTCUT,
    }
