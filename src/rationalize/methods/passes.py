"""How often a method sends a text through an encoder, which is nearly its whole cost. Numbers, not prose."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class PhasePasses:
    """The cost of a training step in one phase.

    Attributes:
        phase: Name of the phase.
        passes: How often each text of the step is read; if turns alternate, the mean over their cycle.
        selecting: How many of them only select, and so end at `selection.layers`.
        pool: The phase's pool: all, gold, rest or augmented.
        epochs: Epochs of a pretraining phase; None: a main phase, with `training.epochs`.
    """

    phase: str
    passes: float
    selecting: float = 0
    pool: str = "all"
    epochs: int | None = None


@dataclass(frozen=True, slots=True)
class Passes:
    """The cost of training and explaining, in readings of a text.

    Attributes:
        train: Every phase.
        explain: Readings for one explanation.
        explain_selecting: How many of them only select.
        explain_word: Additional readings for every word of the text.
    """

    train: tuple[PhasePasses, ...]
    explain: float
    explain_selecting: float = 0
    explain_word: float = 0

    def add(self, passes: float, *phases: str, selecting: float = 0) -> Passes:
        """Return a copy with more readings in these phases, some of which only select."""
        more = (
            replace(each, passes=each.passes + passes, selecting=each.selecting + selecting)
            if each.phase in phases
            else each
            for each in self.train
        )
        return replace(self, train=tuple(more))

    def cut_selection(self, share: float) -> Passes:
        """Return a copy in which a reading that only selects counts this much: k of L layers are k / L of a reading."""
        saved = 1 - share
        train = (
            replace(each, passes=each.passes - saved * each.selecting, selecting=share * each.selecting)
            for each in self.train
        )
        return replace(
            self,
            train=tuple(train),
            explain=self.explain - saved * self.explain_selecting,
            explain_selecting=share * self.explain_selecting,
        )

    def pretrain(self, epochs: int) -> Passes:
        """Return a copy with another number of pretraining epochs."""
        changed = (each if each.epochs is None else replace(each, epochs=epochs) for each in self.train)
        return replace(self, train=tuple(changed))

    def add_copies(self) -> Passes:
        """Return a copy whose phases are repeated over augmented copies, but for those over the rest."""
        copied = (
            replace(each, phase=name_augmented(each.phase), pool="augmented")
            for each in self.train
            if each.pool != "rest"
        )
        return replace(self, train=(*self.train, *copied))

    def shorten(self) -> str:
        """Return the readings per training step, phase by phase: `1 / 5`."""
        return " / ".join(_format_number(each.passes) for each in self.train)

    def describe(self) -> str:
        """Describe all readings in a sentence."""
        steps = [
            f"{_format_number(each.passes)} {_name_step(each, alone=len(self.train) == 1)}"
            for each in self.train
        ]
        words = f", and {_format_number(self.explain_word)} more per word" if self.explain_word else ""
        return f"{', '.join(steps)}; {_format_number(self.explain)} per explanation{words}."


def count_gold_then_rest(learn: float, play: float, *, learn_selecting: float = 0) -> Passes:
    """State the cost of learning on the gold pool, then playing on the rest, where a step selects once."""
    lesson = PhasePasses("supervised", learn, selecting=learn_selecting, pool="gold")
    return Passes(train=(lesson, PhasePasses("unsupervised", play, selecting=1, pool="rest")), explain=2)


def name_augmented(phase: str) -> str:
    """Return the name of a phase that is repeated over augmented copies."""
    return f"{phase}_augmented"


def _name_step(each: PhasePasses, *, alone: bool) -> str:
    if alone:
        return "per training step"
    pool = {"gold": " (gold pool)", "rest": " (rest)", "augmented": " (copies)"}.get(each.pool, "")
    return f"per step of `{each.phase}`{pool}"


def _format_number(passes: float) -> str:
    return f"{passes:.1f}".removesuffix(".0")
