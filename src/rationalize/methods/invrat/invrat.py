"""Invariant rationalization."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from rationalize.config import Weight
from rationalize.methods.base import Losses, Phase, Turn
from rationalize.methods.invrat.environments import infer_environments
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.preparing import Additions, Workbench
from rationalize.methods.registry import About, register
from rationalize.methods.select_predict import ApartGame
from rationalize.models.encoder import EncoderFactory
from rationalize.models.losses import hinge, task_cross_entropy
from rationalize.models.masking import pool_masked
from rationalize.text.batch import Batch


@register(
    About(
        name="invrat",
        title="INVRAT",
        supervision="none",
        reference="Chang et al., ICML 2020, with environments inferred as in the reproduction by Yue et al., ICLR 2024",
        cite="Chang et al. 2020",
        faithful=True,
        headline="Selects words whose relation to the label is the same in every environment.",
    )
)
class InvRAT(ApartGame):
    """A selector between two predictors, of which one knows the environment that a text comes from.

    **Learns from** labels, and an environment per training example that is inferred beforehand: a trained un_rat
    (settings under `shortcuts.finder`) reads the unselected words of each text, and k-means sorts those vectors
    (artifacts/environments.json).

    **Objective** L_i = CE(y, q_i(x ⊗ m)), L_e = CE(y, q_e(x ⊗ m, E)). Predictors: min L_i, min L_e. Selector:
    min L_i + λ_h · max(0, L_i - L_e) + λ1 · |share(m) - α| + λ2 · switches(m). At the optimum, knowing E does not
    help once the rationale is known.

    **Phases** `pretrain`: q_i on full texts. `game`, a cycle with one turn per batch: `select` moves the selector,
    then `predict_1..3` q_i, then `aware_1..3` q_e.

    **Encoder passes** Three in the selector's turn, two in each of the predictors'; the number is the mean over a
    cycle. Three encoders in memory. An un_rat is trained first.

    **Inference** m by decoding (the best `share`) without noise; the label is q_i's, from the selected words alone. No
    environment.

    **Defaults** λ_h = 10, K = 2 and 1 + 3 + 3 turns as published; one epoch of pretraining (the reproduction: 3 of 30);
    gumbel_soft, mixed embeddings and a share held per text as in the reproduction (the original: no noise, over the
    batch). The environment joins q_e's pooled features; the reproduction's linear layer on both can only shift the
    logits, so a hidden layer is the default here.

    **Pitfalls** The selector learns only in every seventh step: train for more epochs. Losses are means over the batch,
    so the hinge is noisy in small ones. With a weak q_e the hinge stays at 0, which leaves un_rat. A degenerate un_rat
    makes environments that are the labels; training shows how well they agree.
    """

    class Config(ApartGame.Config):
        """Settings of invrat."""

        environments: Annotated[int, Field(ge=2)] = 2
        """K, how many environments k-means looks for."""
        invariance_weight: Weight = 10.0
        """λ_h."""
        predictor_turns: Annotated[int, Field(ge=1)] = 3
        """Turns of each predictor for one of the selector."""
        pretrain: Annotated[int, Field(ge=0)] = 1
        """Epochs in which q_i learns from full texts before the game."""
        aware_head: Literal["hidden", "linear"] = "hidden"
        """Whether q_e has a hidden layer on features and environment, or only a linear one."""

    config: Config
    costs = Passes(
        train=(PhasePasses("pretrain", 1, epochs=1), PhasePasses("game", 15 / 7, selecting=1)),
        explain=2,
        explain_selecting=1,
    )

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        self.aware = encoders.make()
        width = self.aware.hidden_size
        joint = width + config.environments
        hidden = nn.Sequential(nn.Linear(joint, width), nn.Tanh(), nn.Linear(width, n_classes))
        self.aware_head = hidden if config.aware_head == "hidden" else nn.Linear(joint, n_classes)

    @property
    def pretrain_epochs(self) -> int:
        return self.config.pretrain

    def players(self) -> dict[str, list[nn.Parameter]]:
        return {**super().players(), "aware": [*self.aware.parameters(), *self.aware_head.parameters()]}

    def phases(self) -> tuple[Phase, ...]:
        again = range(1, self.config.predictor_turns + 1)
        cycle = (
            Turn("select", self.selector_loss, ("selector",)),
            *(Turn(f"predict_{turn}", self.predictor_loss, ("predictor",)) for turn in again),
            *(Turn(f"aware_{turn}", self.aware_loss, ("aware",)) for turn in again),
        )
        read = Turn("read", self.full_text_loss, ("predictor",))
        return (
            Phase("pretrain", "all", (read,), when="pretrain"),
            Phase("game", "all", cycle, calendar="cycle"),
        )

    def weights(self) -> dict[str, float]:
        return {"invariance": self.config.invariance_weight, **super().weights()}

    def full_text_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from the full text, by q_i."""
        return {"task": self.task_loss(batch, batch.selectable)}

    def aware_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """L_e, for q_e."""
        mask = self.draw(batch, generator).detach()
        return {"task": task_cross_entropy(self.predict_aware(batch, mask), batch.labels)}

    def selector_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """L_i, its excess over L_e, and the mask's shape."""
        mask = self.draw(batch, generator)
        agnostic = self.task_loss(batch, mask)
        aware = task_cross_entropy(self.predict_aware(batch, mask), batch.labels)
        return {"task": agnostic, "invariance": hinge(agnostic, aware), **self.shape_losses(batch, mask)}

    def predict_aware(self, batch: Batch, mask: Tensor) -> Tensor:
        """Return class logits (b, C) of q_e. A text without an environment counts as one of the first."""
        pooled = pool_masked(self.aware, batch, mask, self.net.masking)
        environment = F.one_hot(batch.environments.clamp(min=0), self.config.environments)
        logits: Tensor = self.aware_head(torch.cat([pooled, environment.to(pooled.dtype)], -1))
        return logits

    @classmethod
    def prepare(cls, options: Config, bench: Workbench) -> Additions:
        """Infer the environments of all training examples and copies."""
        return Additions(environments=infer_environments(bench, options.environments))

    @classmethod
    def passes(cls, options: Config, n_classes: int) -> Passes:
        others = 2 * options.predictor_turns
        stated = super().passes(options, n_classes).pretrain(options.pretrain)
        pretrain, game = stated.train
        game = replace(game, passes=(3 + 2 * others) / (1 + others))
        return replace(stated, train=(pretrain, game))
