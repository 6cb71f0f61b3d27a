"""What methods with a selector and a predictor have in common, whatever they learn from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from rationalize.config import Strict
from rationalize.methods.base import EpochLabel, Losses, Method, Output, Phase, Turn
from rationalize.methods.options import (
    ApartSelectionConfig,
    LabelConfig,
    SelectionConfig,
    SelectorConfig,
)
from rationalize.methods.parts import decide_on_text, draw_mask, read_out, shape_losses, shape_weights
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About
from rationalize.models.encoder import EncoderFactory
from rationalize.models.losses import task_cross_entropy
from rationalize.models.rationale_net import NetSettings, RationaleNet
from rationalize.text.batch import Batch


class SelectPredict(Method):
    """A net of selector and predictor, and its explanation. A child defines phases and losses.

    The label comes from the selected words alone, or from the full text if `label_from` is set so or the method is
    not faithful.
    """

    class Config(Strict):
        """Settings of methods that select and predict."""

        selection: SelectorConfig = SelectorConfig()

    config: Config

    epoch_label: ClassVar[EpochLabel] = "rationale"
    full_text_label: ClassVar[bool] = True
    """Whether an explanation also has the predictor's label from the full text, which costs nothing with a shared
    encoder."""

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        self.net = self.make_net(encoders)

    def make_net(self, encoders: EncoderFactory) -> RationaleNet:
        """Make selector and predictor as configured."""
        return RationaleNet(encoders, self.n_classes, **self.net_settings())

    def net_settings(self) -> NetSettings:
        """Return what a net is made with, besides encoders and classes."""
        chosen = self.config.selection
        return {"shared": chosen.shared_encoder, "masking": chosen.masking, "layers": chosen.layers}

    def read(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Return selection logits (b, n, 2), and class logits of the full text (b, C) if an explanation has them."""
        with_label = self.full_text_label and self.reads_whole
        return self.net.read(batch) if with_label else (self.net.select(batch), None)

    @property
    def reads_whole(self) -> bool:
        """Whether an explanation may read the full text through all layers: to decide on it, or at no further cost."""
        return _reads_whole(self.config, faithful=self.faithful)

    def select(self, batch: Batch) -> Tensor:
        """Return selection logits (b, n, 2) alone."""
        return self.net.select(batch)

    def explain(self, batch: Batch) -> Output:
        return read_out(self, self.config.selection, *self.read(batch), batch)

    def decide(self, batch: Batch) -> Output:
        """Predict the label alone: from a selection without the full text, or from the text without a selection."""
        if self.faithful or not self.full_text_label:
            return read_out(self, self.config.selection, self.select(batch), None, batch)
        return decide_on_text(self.net.classify(batch), batch)

    def label_from_mask(self, batch: Batch, mask: Tensor) -> Tensor:
        return self.net.predict(batch, mask)

    @property
    def faithful(self) -> bool:
        return _is_faithful(self.config, self.about)

    @classmethod
    def passes(cls, options: Any, n_classes: int) -> Passes:
        stated, apart = cls.costs, not options.selection.shared_encoder
        if not _reads_whole(options, faithful=_is_faithful(options, cls.about)):
            return replace(stated, explain=2, explain_selecting=1)
        if not cls.full_text_label:
            return stated
        return replace(stated, explain=stated.explain + apart, explain_selecting=int(apart))


def _is_faithful(options: Strict, about: About) -> bool:
    return options.label_from == "rationale" if isinstance(options, LabelConfig) else about.faithful


def _reads_whole(options: SelectPredict.Config, *, faithful: bool) -> bool:
    return options.selection.layers is None or not faithful


class SelectionGame(SelectPredict):
    """Both learn from labels through sampled masks that are held to a share: by itself, vanilla rationalization.

    A child changes the net, adds parts to the loss, or has phases of its own.
    """

    class Config(SelectPredict.Config):
        """Settings of methods that draw masks."""

        selection: SelectionConfig = SelectionConfig()

    config: Config
    costs = Passes(train=(PhasePasses("unsupervised", 2, selecting=1),), explain=2)

    def phases(self) -> tuple[Phase, ...]:
        return (Phase("unsupervised", "all", (Turn("play", self.unsupervised_loss),)),)

    def weights(self) -> dict[str, float]:
        return shape_weights(self.config.selection)

    def unsupervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """L_un: the label from a sampled rationale (`task`), and its share and smoothness."""
        mask = self.draw(batch, generator)
        return {"task": self.task_loss(batch, mask), **self.shape_losses(batch, mask)}

    def draw(self, batch: Batch, generator: torch.Generator) -> Tensor:
        """Sample a training mask (b, n)."""
        return draw_mask(self.net.select(batch), self.config.selection, batch, generator)

    def task_loss(self, batch: Batch, mask: Tensor) -> Tensor:
        """The label from what the mask shows."""
        return task_cross_entropy(self.net.predict(batch, mask), batch.labels)

    def shape_losses(self, batch: Batch, mask: Tensor) -> Losses:
        """The mask's share (`sparsity`) and smoothness (`continuity`)."""
        return shape_losses(mask, self.config.selection, batch)


class ApartGame(SelectionGame):
    """The same for players that have an encoder each and move separately."""

    class Config(SelectionGame.Config):
        """Settings of games between players that share nothing."""

        selection: ApartSelectionConfig = ApartSelectionConfig()

    config: Config
    costs = replace(SelectionGame.costs, explain_selecting=1)
    full_text_label = False

    def players(self) -> dict[str, list[nn.Parameter]]:
        return self.net.players()

    def predictor_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from a rationale that is not moved."""
        with torch.no_grad():
            mask = self.draw(batch, generator)
        return {"task": self.task_loss(batch, mask)}
