"""What every method's explanations must be, whatever the method: one suite over all that are registered."""

from __future__ import annotations

import re

import pytest
import torch
from contract import (
    assert_same_output,
    each_encoder,
    every_method,
    every_setting,
    scale_heads,
    scramble,
    some_mask,
    text_alone,
    uneven,
)

from helpers import tiny_corpus
from rationalize.methods.registry import method_class
from rationalize.runs.model_folder import load_model, save_model
from rationalize.types import Example

HEADINGS = (
    "Learns from",
    "Objective",
    "Phases",
    "Encoder passes",
    "Inference",
    "Defaults",
    "Pitfalls",
)

EXTREMES = {
    "one word": ["dull"],
    "nothing": [""],
    "white space": [" \n\t "],
    "unknown characters": ["☃ ☃☃ ☃"],
    "longer than the window": ["a truly gripping story , " * 60],
    "all of them": ["dull", "", "☃", "a joy to watch " * 60],
}


@every_setting
@every_method
@torch.no_grad()
def test_outputs_have_their_shapes_and_ranges(name, setting):
    batch = setting.batch()
    output = setting.method(name).explain(batch)
    assert output.mask.dtype == torch.bool
    assert output.mask.shape == output.scores.shape == batch.input_ids.shape
    assert not (output.mask & ~batch.selectable).any()
    assert output.scores.is_floating_point()
    assert 0 <= output.scores.min() <= output.scores.max() <= 1
    for logits in (output.logits, output.full_text, output.rationale):
        if logits is not None:
            assert logits.shape == (len(batch), setting.n_classes)
            assert logits.isfinite().all()


@each_encoder
@every_method
@torch.no_grad()
def test_a_row_is_explained_the_same_in_any_company(name, setting):
    examples, method = uneven(tiny_corpus(6)), setting.method(name)
    together = method.explain(setting.batch(examples))
    for index, example in enumerate(examples):
        alone = method.explain(setting.batch([example]))
        width = alone.mask.shape[1]
        assert torch.equal(alone.mask[0], together.mask[index, :width])
        torch.testing.assert_close(alone.scores[0], together.scores[index, :width])
        torch.testing.assert_close(alone.logits[0], together.logits[index])


@each_encoder
@every_method
@torch.no_grad()
def test_an_explanation_looks_at_nothing_but_the_text(name, setting):
    batch, method = setting.batch(), setting.method(name)
    seen, blind = method.explain(batch), method.explain(text_alone(batch))
    assert_same_output(seen, blind)


@every_setting
@every_method
@torch.no_grad()
def test_a_faithful_label_depends_on_the_selected_words_alone(name, setting):
    batch, method = setting.batch(), setting.method(name)
    if not method.faithful:
        pytest.skip("decides on more than the selected words, and says so")
    output = method.explain(batch)
    torch.testing.assert_close(output.logits, method.label_from_mask(batch, output.mask))
    for mask in (output.mask, some_mask(batch)):
        scrambled = scramble(batch, mask)
        hides = bool((batch.selectable & ~mask).any())  # a fresh selector may take everything
        assert torch.equal(scrambled.input_ids, batch.input_ids) == (not hides)
        shown = method.label_from_mask(batch, mask)
        assert torch.equal(shown, method.label_from_mask(scrambled, mask))
    everything = method.label_from_mask(batch, batch.selectable)
    assert not torch.equal(everything, shown), "the mask has no effect at all"


@each_encoder
@every_method
@torch.no_grad()
def test_saved_and_loaded_it_says_the_same(name, setting, tmp_path):
    model, batch = setting.model(name), setting.batch()
    save_model(tmp_path / "model", model, "card")
    before, after = model.method.explain(batch), load_model(tmp_path / "model").method.explain(batch)
    assert_same_output(before, after)


@each_encoder
@every_method
@torch.no_grad()
def test_extreme_texts_are_explained_in_numbers(name, setting):
    method = setting.method(name)
    for case, texts in EXTREMES.items():
        batch = setting.batch([Example(str(index), text) for index, text in enumerate(texts)])
        output = method.explain(batch)
        assert output.logits.isfinite().all(), case
        assert output.scores.isfinite().all(), case
        assert not (output.mask & ~batch.selectable).any(), case


@each_encoder
@every_method
@torch.no_grad()
def test_extreme_heads_explain_in_numbers(name, setting):
    method = setting.method(name)
    scale_heads(method, 1e4)
    output = method.explain(setting.batch())
    assert output.logits.isfinite().all()
    assert 0 <= output.scores.min() <= output.scores.max() <= 1


@every_method
def test_the_docstring_has_every_heading_in_order(name):
    found = re.findall(r"^\s*\*\*(.+?)\*\*", method_class(name).__doc__ or "", flags=re.MULTILINE)
    assert tuple(found) == HEADINGS


@every_method
def test_setting_one_thing_leaves_the_other_defaults_alone(name):
    """A section that is given in part is filled up by its class, not by the default that it replaces."""
    config = method_class(name).Config
    full = config().model_dump(mode="json")
    for section, values in full.items():
        for setting, value in values.items() if isinstance(values, dict) else ():
            given = config.model_validate({section: {setting: value}})
            assert given.model_dump(mode="json") == full, f"{section}.{setting}"


@every_method
def test_what_is_shown_is_as_much_as_was_asked_for(name):
    """One rule for all: a method that is read off by a share is so by default."""
    selection = getattr(method_class(name).Config(), "selection", None)
    assert getattr(selection, "decoding", "topk") == "topk"


@every_method
def test_the_id_is_the_name_of_the_file(name):
    cls = method_class(name)
    assert cls.about.name == name == cls.__module__.rsplit(".", 1)[-1]
    assert cls.Config(), "every setting has a default"
