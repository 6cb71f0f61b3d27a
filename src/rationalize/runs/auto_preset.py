"""The preset `auto`: settings that follow from what the data look like, each with its reason.

The values are in `presets/auto.yaml`; how they were chosen is in `docs/training.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rationalize.config import PresetUse, Settings
from rationalize.data.stats import SplitStats, measure_split
from rationalize.methods.registry import method_class
from rationalize.models.tokenizer import FROM_SCRATCH
from rationalize.runs.presets import fit_to_method, load_preset
from rationalize.text.words import WordRule
from rationalize.types import Example

AUTO = "auto"
SAMPLE = 2000
"""Examples that are looked at."""
SHORT, LONG = 60, 350
"""Median words up to which texts are short, and from which on they are long: an encoder of 512 pieces cuts these."""
EXAMPLES_SEEN = 24_000
"""Texts that a run reads in all, about: small data sets get more epochs."""
EPOCHS = (3, 10)
"""Fewest and most epochs."""
LEAST_REST = 0.5
"""Share of the examples whose gold is not used by a method that also needs examples without."""
SHARES = (0.05, 0.5)
"""Lowest and highest share of a text that gold can make the wanted one."""

Kind = Literal["short", "paragraphs", "long"]


@dataclass(frozen=True)
class DataLooks:
    """What `auto` decides on: the number of training examples, and figures of an even sample of them."""

    n_examples: int
    sample: SplitStats

    @property
    def kind(self) -> Kind:
        """Short texts, paragraphs, or long documents."""
        if self.sample.words_median <= SHORT and not self.sample.queries:
            return "short"
        return "long" if self.sample.words_median >= LONG else "paragraphs"


@dataclass(frozen=True)
class Choice:
    """Settings and the reason for them."""

    settings: Settings
    reason: str


def look_at(examples: Sequence[Example], words: WordRule) -> DataLooks:
    """Look at training examples."""
    step = max(1, len(examples) // SAMPLE)
    return DataLooks(len(examples), measure_split(examples[::step], words))


def use_auto(looks: DataLooks, method: str, encoder: str, given: Iterable[str] = ()) -> PresetUse:
    """Return what `auto` contributes to a method's run on such data; given settings override it."""
    choices, taken = _choose(looks, method, encoder), set(given)
    merged = {name: value for choice in choices for name, value in choice.settings.items()}
    applied = {k: v for k, v in fit_to_method(merged, method).settings.items() if k not in taken}
    reasons = (choice.reason for choice in choices if choice.settings.keys() & applied.keys())
    return PresetUse(name=AUTO, applied=applied, reasons=tuple(reasons))


def _choose(looks: DataLooks, method: str, encoder: str) -> list[Choice]:
    """Choose settings from what is general to what is special; later choices win."""
    preset, about, sample = load_preset(AUTO), method_class(method).about, looks.sample
    named = {"short": "short texts", "paragraphs": "paragraphs", "long": "long documents"}[looks.kind]
    query = " with a query" if sample.queries else ""
    epochs = min(max(round(EXAMPLES_SEEN / max(1, looks.n_examples)), EPOCHS[0]), EPOCHS[1])
    choices = [
        Choice(preset.settings, "any data"),
        Choice(preset.by_kind[looks.kind], f"{named}{query} (median {sample.words_median:g} words)"),
        Choice({"training.epochs": epochs}, f"{looks.n_examples} training examples"),
    ]
    if sample.gold_fraction:  # neither None nor 0: something is marked
        share = round(min(max(sample.gold_fraction, SHARES[0]), SHARES[1]), 2)
        reason = f"gold that is {100 * sample.gold_fraction:.0f} % of the words"
        choices.append(Choice({"options.selection.share": share, "options.share": share}, reason))
        if about.supervision != "none":
            choices.append(Choice(preset.with_gold, f"{method}, which learns from gold"))
    if about.needs_rest and sample.annotated > (1 - LEAST_REST) * sample.rows:
        reason = f"{method}, which also learns from examples without gold"
        choices.append(Choice({"data.gold_share": 1 - LEAST_REST}, reason))
    if encoder in FROM_SCRATCH:
        choices.append(Choice(preset.from_scratch, f"{encoder}, which learns from scratch"))
    return choices
