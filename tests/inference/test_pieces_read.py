"""What an explanation reads, counted in word pieces at every layer: a guard of speed that is no clock."""

from __future__ import annotations

from collections import Counter

import pytest

from helpers import tiny_corpus, tiny_model
from rationalize.inference.engine import PADDING
from rationalize.models.masking import PACKED_PADDING

LAYERS = 3


@pytest.fixture
def packed(monkeypatch):
    """Batches of any size are cut by their padding."""
    monkeypatch.setattr("rationalize.inference.engine.LEAST_TOKENS", 0)
    monkeypatch.setattr("rationalize.models.masking.FEW_PIECES", 0)


def count_pieces(model, action):
    """How many pieces, padding included, every layer reads."""
    seen: Counter[int] = Counter()
    hooks = [
        layer.register_forward_hook(lambda _, inputs, out, i=i: seen.update({i: out.shape[0] * out.shape[1]}))
        for i, layer in enumerate(model.method.net.encoder.model.encoder.layer)
    ]
    found = action()
    for hook in hooks:
        hook.remove()
    return [seen[i] for i in range(LAYERS)], found


@pytest.mark.parametrize("layers", [1, 2, None])
def test_an_explanation_reads_the_text_as_deep_as_it_selects_and_then_what_it_shows(packed, layers):
    model = tiny_model(
        "un_rat", encoder={"layers": LAYERS}, selection={"masking": "attention", "layers": layers}
    )
    examples = tiny_corpus(60)
    read, explained = count_pieces(model, lambda: list(model.engine().explain(examples)))
    windows = [window for item in explained for window in item.encoded.windows]
    whole = sum(len(window) for window in windows)
    shown = sum(int(item.pieces.sum()) for item in explained)
    shown += sum(int((~window.selectable).sum()) for window in windows)
    assert shown < 0.6 * whole
    for layer, pieces in enumerate(read):
        selects = layer < (layers or LAYERS)
        least, most = shown + whole * selects, shown / (1 - PACKED_PADDING) + whole * selects / (1 - PADDING)
        assert least <= pieces <= most


def test_a_label_from_the_full_text_reads_it_once(packed):
    model = tiny_model("sup_rat", encoder={"layers": LAYERS})
    read, _ = count_pieces(model, lambda: list(model.engine().predict(tiny_corpus(60))))
    whole = sum(
        len(w) for each in model.text.encode_all(tiny_corpus(60), truncate=False) for w in each.windows
    )
    assert all(whole <= pieces <= whole / (1 - PADDING) for pieces in read)
