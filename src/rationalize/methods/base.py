"""The interface of a method: phases of turns, losses in named parts, and an explanation. No loop, no optimizer.

A **phase** is a pool of examples and one or more turns. A **turn** is a loss and the players (groups of
parameters) that it may move; everything else is frozen while it runs. The loop runs phases; it does
not know methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
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
    """One update: a loss, and the players that it may move.

    `loss(batch, generator)` returns named parts; their weights come from `Method.weights`. `rates()`, called after
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
        turns: The updates on each batch.
        calendar: each: every turn on every batch; cycle: one turn per batch, in rotation.
        when: In the main epochs, or in the method's `pretrain_epochs` before them.
    """

    name: str
    pool: str
    turns: tuple[Turn, ...]
    calendar: Literal["each", "cycle"] = "each"
    when: Literal["main", "pretrain"] = "main"


def gold_then_rest(learn: Turn, play: Turn) -> tuple[Phase, ...]:
    """Make the phases of semi-supervised training: learn on the gold pool, then play on the rest."""
    return Phase("supervised", "gold", (learn,)), Phase("unsupervised", "rest", (play,))


def leave_out(parameters: Iterable[nn.Parameter], others: Iterable[nn.Parameter]) -> list[nn.Parameter]:
    """List the parameters that are not among the others; by identity, since `==` would compare their numbers."""
    apart = {id(parameter) for parameter in others}
    return [parameter for parameter in parameters if id(parameter) not in apart]


@dataclass(frozen=True)
class Output:
    """A method's explanations of a batch. b: rows, n: word pieces, C: classes.

    Attributes:
        mask: (b, n) bool, the selected pieces.
        scores: (b, n) in [0, 1], how strongly each piece is preferred.
        logits: (b, C); their argmax is the label.
        full_text: (b, C) logits from reading everything, if the method has them.
        rationale: (b, C) logits from reading the selected pieces alone, if it has them.
    """

    mask: Tensor
    scores: Tensor
    logits: Tensor
    full_text: Tensor | None = None
    rationale: Tensor | None = None


class Method(nn.Module, ABC):
    """Base of all methods: `phases`, their `costs`, `explain`, a `Config`, and an `about` from `register`.

    Methods with a selector and a predictor share more: see `SelectPredict`. Optional functions are in `hooks`.
    """

    Config: ClassVar[type[Strict]]
    about: ClassVar[About]
    costs: ClassVar[Passes]
    """What its own phases and explanations cost with default options and two classes; see `passes`."""
    epoch_label: ClassVar[EpochLabel] = "decided"
    """Whose task F1 chooses epochs: the label that it decides on, or its label from the rationale alone, if it learns
    to read rationales."""
    cutoff: Tensor | None

    def __init__(self, config: Strict, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__()
        self.config = config
        self.n_classes = n_classes
        calibrated = getattr(getattr(config, "selection", None), "decoding", None) == "calibrated"
        # A buffer, so that it is saved with the weights that it was found for.
        self.register_buffer("cutoff", torch.tensor(0.5, device="cpu") if calibrated else None)

    @abstractmethod
    def phases(self) -> tuple[Phase, ...]:
        """Return the phases of an epoch."""

    @abstractmethod
    def explain(self, batch: Batch) -> Output:
        """Select and predict, without noise."""

    def label_from_mask(self, batch: Batch, mask: Tensor) -> Tensor:
        """Return class logits (b, C) when only `mask` (b, n) is shown. A faithful method decides on these."""
        raise NotImplementedError(f"{self.about.name} does not read the selected pieces alone")

    @property
    def pretrain_epochs(self) -> int:
        """Epochs of the `pretrain` phases, before the `training.epochs` main ones; never chosen on dev."""
        return 0

    def weights(self) -> dict[str, float]:
        """Return the weight of each loss part; unnamed parts weigh 1."""
        return {}

    def counts(self, batch: Batch) -> dict[str, float]:
        """Count what each part is a mean over in this batch (rows with gold, pieces …); 0 if it is absent.

        For steps that are computed in micro-batches: a micro-batch's part is weighted by its count relative to the
        whole batch's. A part that is unnamed, or counts 0 in the whole batch, is a mean over rows.
        """
        return {"uniform": float(batch.shortcuts.any(-1).sum())}

    def players(self) -> dict[str, list[nn.Parameter]]:
        """Return the groups of parameters that turns may move, without overlap. Default: one group of all."""
        return {"model": list(self.parameters())}

    def list_players(self, *names: str) -> dict[str, list[nn.Parameter]]:
        """Return these modules as players."""
        return {name: list(self.get_submodule(name).parameters()) for name in names}

    def forward(self, turn: Turn, batch: Batch, generator: torch.Generator) -> Losses:
        """Compute a turn's losses (the loop calls this, so that wrappers around the module see it)."""
        return turn.loss(batch, generator)

    @property
    def faithful(self) -> bool:
        """Whether the label depends on the selected words alone, as configured."""
        return self.about.faithful

    @classmethod
    def passes(cls, options: Any, n_classes: int) -> Passes:
        """Return what its own phases and explanations cost with these options (a `Config`) and number of classes."""
        return cls.costs
