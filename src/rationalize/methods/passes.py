"""How often a method sends a text through an encoder, which is nearly all that it costs. Numbers, not prose."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class PhasePasses:
    """What a training step of one phase costs.

    Attributes:
        phase: Name of the phase.
        passes: How often each text of the step is read; where turns alternate, the mean over their cycle.
        pool: The phase's pool: all, gold or rest.
        epochs: Epochs of a phase before the main ones; None: a main phase, which takes `training.epochs`.
    """

    phase: str
    passes: float
    pool: str = "all"
    epochs: int | None = None


@dataclass(frozen=True, slots=True)
class Passes:
    """What training and explaining cost, in readings of a text.

    Attributes:
        train: Every phase.
        explain: Readings for one explanation.
        explain_word: Readings for every word of the text on top of that.
    """

    train: tuple[PhasePasses, ...]
    explain: float
    explain_word: float = 0

    def add(self, passes: float, *phases: str) -> Passes:
        """The same with more readings in these phases."""
        more = (
            replace(each, passes=each.passes + passes) if each.phase in phases else each
            for each in self.train
        )
        return replace(self, train=tuple(more))

    def pretrain(self, epochs: int) -> Passes:
        """The same with another number of epochs before the main ones."""
        changed = (each if each.epochs is None else replace(each, epochs=epochs) for each in self.train)
        return replace(self, train=tuple(changed))

    def shorten(self) -> str:
        """The readings per training step, phase by phase: `1 / 5`."""
        return " / ".join(_number(each.passes) for each in self.train)

    def describe(self) -> str:
        """The same in a sentence, explanations included."""
        steps = [f"{_number(each.passes)} {_place(each, alone=len(self.train) == 1)}" for each in self.train]
        words = f", and {_number(self.explain_word)} more per word" if self.explain_word else ""
        return f"{', '.join(steps)}; {_number(self.explain)} per explanation{words}."


def _place(each: PhasePasses, *, alone: bool) -> str:
    if alone:
        return "per training step"
    pool = {"gold": " (gold pool)", "rest": " (rest)"}.get(each.pool, "")
    return f"per step of `{each.phase}`{pool}"


def _number(passes: float) -> str:
    return f"{passes:.1f}".removesuffix(".0")
