"""What a method is: phases of turns, losses in named parts, and an explanation. No loop, no optimizer step.

A **phase** is a pool of examples and one or more turns. A **turn** is a loss and the players (groups of
parameters) that it may move; everything else is frozen while it runs. The loop runs phases; it knows no
method.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from rationalize.config import Strict
from rationalize.methods.passes import Passes
from rationalize.methods.registry import About
from rationalize.models.encoder import EncoderFactory
from rationalize.text.batch import Batch

Losses = dict[str, Tensor]
EpochLabel = Literal["decided", "rationale"]


@dataclass(frozen=True)
class Turn:
    """One update: a loss, and who may be moved by it.

    `loss(batch, generator)` returns named parts; their weights come from `Method.weights`. `rates()`, asked after
    the loss, may scale players' learning rates for this one step.
    """

    name: str
    loss: Callable[[Batch, torch.Generator], Losses]
    moves: tuple[str, ...] = ("model",)
    rates: Callable[[], Mapping[str, float]] = dict


@dataclass(frozen=True)
class Phase:
    """A pass over a pool, every epoch.

    Attributes:
        name: Shown in progress and logs.
        pool: all training examples, those with gold rationales, or the rest.
        turns: What happens.
        calendar: each: every turn on every batch; cycle: one turn per batch, in order, over and over.
        when: main epochs, or the method's `pretrain_epochs` before them.
    """

    name: str
    pool: str
    turns: tuple[Turn, ...]
    calendar: Literal["each", "cycle"] = "each"
    when: Literal["main", "pretrain"] = "main"


def gold_then_rest(learn: Turn, play: Turn) -> tuple[Phase, ...]:
    """Semi-supervised training: lessons where there is gold, then the game on the rest."""
    return Phase("supervised", "gold", (learn,)), Phase("unsupervised", "rest", (play,))


@dataclass(frozen=True)
class Output:
    """What a method makes of a batch. b: rows, n: word pieces, C: classes.

    Attributes:
        mask: (b, n) bool, the selected pieces.
        scores: (b, n) in [0, 1], how strongly each piece is wanted.
        logits: (b, C), what the label is decided on.
        full_text: (b, C) logits from reading everything, if the method has them.
        rationale: (b, C) logits from reading the selected pieces alone, if it has them.
    """

    mask: Tensor
    scores: Tensor
    logits: Tensor
    full_text: Tensor | None = None
    rationale: Tensor | None = None


class Method(nn.Module, ABC):
    """Base of all methods: `phases`, `explain`, a `Config` and what it is `about`.

    A selector that picks words and a predictor that reads them have more in common: `SelectPredict`. What few methods
    can be asked, and who asks, is in `hooks`.
    """

    Config: ClassVar[type[Strict]]
    about: ClassVar[About]
    epoch_label: ClassVar[EpochLabel] = "decided"
    """Whose task F1 chooses epochs: the label that it decides on, or its label from the rationale alone, if it learns
    to read rationales."""

    def __init__(self, config: Strict, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__()
        self.config = config
        self.n_classes = n_classes

    @abstractmethod
    def phases(self) -> tuple[Phase, ...]:
        """What one epoch of training consists of."""

    @abstractmethod
    def explain(self, batch: Batch) -> Output:
        """Select and predict, without noise."""

    def label_from_mask(self, batch: Batch, mask: Tensor) -> Tensor:
        """Class logits (b, C) when only `mask` (b, n) is shown. A faithful method decides on these."""
        raise NotImplementedError(f"{self.about.name} has no reading of the selected pieces alone")

    @property
    def pretrain_epochs(self) -> int:
        """Epochs of the phases marked `pretrain`, before `training.epochs` main ones; never chosen by dev."""
        return 0

    def weights(self) -> dict[str, float]:
        """Weight of each named loss part; a part that is not named weighs 1."""
        return {}

    def counts(self, batch: Batch) -> dict[str, float]:
        """What each part is a mean over in this batch (rows with gold, pieces …), 0 where it has nothing to say.

        For a step that is computed in micro-batches: a part of one of them counts by its number here over that of the
        whole batch. A part that is not named, or has 0 in the whole batch, is a mean over rows.
        """
        return {"uniform": float(batch.shortcuts.any(-1).sum())}

    def players(self) -> dict[str, list[nn.Parameter]]:
        """Groups of parameters that turns may move; they must not overlap. Default: one group, everything."""
        return {"model": list(self.parameters())}

    def forward(self, turn: Turn, batch: Batch, generator: torch.Generator) -> Losses:
        """The losses of a turn (called by the loop, so that wrappers around the module see it)."""
        return turn.loss(batch, generator)

    @property
    def faithful(self) -> bool:
        """Whether the label depends on the selected words alone, as configured."""
        return self.about.faithful

    @classmethod
    def passes(cls, options: Any, n_classes: int) -> Passes:
        """What its own phases and explanations cost with these options (a `Config`) and so many classes."""
        return cls.about.passes
