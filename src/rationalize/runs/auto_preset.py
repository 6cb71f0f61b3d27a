"""The preset `auto`: settings that follow from what the data look like, each with its reason.

The values are in `presets/auto.yaml`; how they were chosen is in `docs/training.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rationalize.config import PresetUse, RunConfig, Settings
from rationalize.data.stats import SplitStats, measure_split
from rationalize.devices import resolve_device
from rationalize.methods.registry import method_class
from rationalize.models.half_products import has_fast_bf16
from rationalize.models.tokenizer import FROM_SCRATCH
from rationalize.runs.presets import fit_to_method, load_preset
from rationalize.text.words import WordRule
from rationalize.types import Example

AUTO = "auto"
SAMPLE = 2000
"""Examples that are looked at."""
SHORT, LONG = 60, 350
"""Median words up to which texts are short, and from which on they are long: an encoder of 512 pieces cuts these."""
TEXTS_READ = 24_000
"""Texts that a run reads in all, about: small data sets get more epochs."""
CPU_PIECES = 6_000_000
"""Pieces that a run on a CPU learns from in all, at most: about an hour for MiniLM on two cores."""
PIECES_PER_WORD = 1.4
WARM_TEXTS = 3_000
"""Texts that a classifier reads before the players start, about: few documents are read several times."""
WARM_EPOCHS = 10
"""Most epochs of that classifier."""
LEAST_EPOCH = 0.02
"""Smallest share of the batches in an epoch."""
EPOCHS = (3, 10)
"""Fewest and most epochs."""
RARE = 0.1
"""Share of the words below which gold is rare."""
UNMARKED = 0.05
"""Share of the annotated texts with nothing to mark from which on texts may go without."""
SHARES = (0.05, 0.5)
"""Lowest and highest share of a text that gold can make the wanted one."""

Kind = Literal["short", "paragraphs", "long"]


@dataclass(frozen=True)
class DataLooks:
    """What `auto` decides on.

    Attributes:
        n_examples: Number of training examples.
        sample: Figures of an even sample of them.
    """

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


def use_auto(looks: DataLooks, method: str, given: Mapping[str, Any] | None = None) -> PresetUse:
    """Return what `auto` contributes to a method's run on such data; given settings override it."""
    given = given or {}
    choices = _choose(looks, method, given)
    merged = {name: value for choice in choices for name, value in choice.settings.items()}
    applied = {k: v for k, v in fit_to_method(merged, method).settings.items() if k not in given}
    reasons = (choice.reason for choice in choices if choice.settings.keys() & applied.keys())
    return PresetUse(name=AUTO, applied=applied, reasons=tuple(reasons))


def _choose(looks: DataLooks, method: str, given: Mapping[str, Any]) -> list[Choice]:
    """Choose settings from what is general to what is special; later choices win."""
    preset, about, sample = load_preset(AUTO), method_class(method).about, looks.sample
    encoder = given.get("encoder.name", RunConfig().encoder.name)
    named = {"short": "short texts", "paragraphs": "paragraphs", "long": "long documents"}[looks.kind]
    query = " with a query" if sample.queries else ""
    kind = {
        **preset.by_kind[looks.kind],
        **(preset.pretrained[looks.kind] if encoder not in FROM_SCRATCH else {}),
    }
    choices = [
        Choice(kind, f"{named}{query} (median {sample.words_median:g} words)"),
        _plan_reading(looks, method, encoder, {**kind, **given}),
    ]
    if sample.gold_fraction:  # neither None nor 0: something is marked
        choices += _choose_shares(sample, learns=about.supervision != "none")
        if about.supervision != "none":
            choices.append(Choice(preset.with_gold, f"{method}, which learns from gold"))
            if sample.without_gold >= UNMARKED * sample.annotated:
                empty = (
                    f"{100 * sample.without_gold / sample.annotated:.0f} % of the texts with nothing to mark"
                )
                choices.append(Choice(preset.nothing_to_mark, empty))
            if sample.gold_fraction < RARE:
                rare = f"gold that is rare ({100 * sample.gold_fraction:.0f} % of the words)"
                choices.append(Choice(preset.rare_gold, rare))
    if encoder in FROM_SCRATCH:
        choices.append(Choice(preset.from_scratch, f"{encoder}, which learns from scratch"))
    elif _on_cpu(given) and has_fast_bf16():
        choices.append(Choice({"training.precision": "bf16"}, "a processor that multiplies fast in bf16"))
    return choices


def _on_cpu(chosen: Mapping[str, Any]) -> bool:
    return resolve_device(chosen.get("device", "auto")).type == "cpu"


def _choose_shares(sample: SplitStats, *, learns: bool) -> Iterator[Choice]:
    """Choose how much to select from how much is marked.

    Who does not learn from gold does not know which texts have nothing to mark, and needs evidence for every label:
    there, and for the finder, texts count in which something is marked.
    """
    everywhere = sample.gold_fraction or 0.0
    marked = everywhere * sample.annotated / (sample.annotated - sample.without_gold)
    own = everywhere if learns else marked
    share = _round_share(own)
    shares = {"options.selection.share": share, "options.share": share}
    yield Choice(shares, f"gold that is {100 * own:.0f} % of the words")
    if sample.without_gold:
        finder = {"shortcuts.finder.selection.share": _round_share(marked)}
        yield Choice(finder, f"gold that is {100 * marked:.0f} % of the words where something is marked")


def _round_share(fraction: float) -> float:
    return round(min(max(fraction, SHARES[0]), SHARES[1]), 2)


def _plan_reading(looks: DataLooks, method: str, encoder: str, chosen: Mapping[str, Any]) -> Choice:
    """Choose how often to read the texts: small data sets more often, and on a CPU within a budget of pieces."""
    n = min(looks.n_examples, chosen.get("data.limit") or looks.n_examples)
    epochs = min(max(round(TEXTS_READ / max(1, n)), EPOCHS[0]), EPOCHS[1])
    epochs = chosen.get("training.epochs", epochs)
    warm = {}
    if chosen.get("training.warm_start"):
        warm = {"training.warm_start": min(max(round(WARM_TEXTS / max(1, n)), 1), WARM_EPOCHS)}
    passes = sum(player.passes for player in method_class(method).costs.train)
    each = min(chosen.get("encoder.max_tokens", 512), PIECES_PER_WORD * looks.sample.words_mean)
    pieces = max(1.0, n * each)  # of an epoch: of a longer text, one window is read
    left = CPU_PIECES - pieces * {**warm, **chosen}.get("training.warm_start", 0)
    affordable = max(0.0, left) / (pieces * passes)
    free = encoder in FROM_SCRATCH or not _on_cpu(chosen)
    if free or affordable >= EPOCHS[0]:
        epochs = epochs if free else min(epochs, int(affordable))
        return Choice({"training.epochs": epochs, **warm}, f"{n} training examples")
    share = max(round(affordable / EPOCHS[0], 2), LEAST_EPOCH)
    reason = (
        f"{n} training examples on a CPU ({EPOCHS[0]} epochs over {100 * share:.0f} % of the batches each)"
    )
    return Choice({"training.epochs": EPOCHS[0], "training.epoch_share": share, **warm}, reason)
