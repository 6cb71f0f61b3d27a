"""Games beside a teacher: a classifier of full texts that is trained first and then only consulted."""

from __future__ import annotations

from typing import Annotated, Any

import torch
from pydantic import Field
from torch import Tensor, nn

from rationalize.methods.base import Losses, Phase, Turn, leave_out
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.select_predict import SelectionGame
from rationalize.models.classifier import Classifier
from rationalize.models.encoder import EncoderFactory
from rationalize.models.losses import task_cross_entropy
from rationalize.text.batch import Batch


def count_taught(epochs: int, game: PhasePasses) -> Passes:
    """State the cost of a game after so many epochs of its teacher, which reads the text for an explanation, too."""
    return Passes(train=(PhasePasses("pretrain", 1, epochs=epochs), game), explain=3, explain_selecting=1)


class TaughtGame(SelectionGame):
    """A game with a teacher, whose reading of the full text is reported beside the label."""

    class Config(SelectionGame.Config):
        """Settings of games with a teacher."""

        pretrain: Annotated[int, Field(ge=1)] = 3
        """Epochs of the teacher."""

    config: Config
    full_text_label = False  # the teacher gives it

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        self.teacher = Classifier(encoders, n_classes, config.selection.masking)

    @property
    def pretrain_epochs(self) -> int:
        return self.config.pretrain

    def players(self) -> dict[str, list[nn.Parameter]]:
        teacher = list(self.teacher.parameters())
        others = {name: leave_out(group, teacher) for name, group in super().players().items()}
        return {**others, "teacher": teacher}

    def teacher_phase(self) -> Phase:
        """The phase that trains the teacher, before the game."""
        teach = Turn("teach", self.teacher_loss, ("teacher",))
        return Phase("pretrain", "all", (teach,), when="pretrain")

    def teacher_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from the full text."""
        return {"task": task_cross_entropy(self.teacher.read(batch), batch.labels)}

    def read(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Selection logits, and the teacher's class logits for the full text, unless selection is to be cheap."""
        return self.net.select(batch), self.teacher.read(batch) if self.reads_whole else None

    @classmethod
    def passes(cls, options: Any, n_classes: int) -> Passes:
        return super().passes(options, n_classes).pretrain(options.pretrain)
