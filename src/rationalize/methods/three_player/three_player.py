"""Introspective extraction with complement control."""

from __future__ import annotations

from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn

from rationalize.config import Share, Strict, Weight
from rationalize.methods.base import Losses, Method, Output, Phase, Turn
from rationalize.methods.options import HardApartSelectionConfig
from rationalize.methods.parts import draw_mask, read_out, shape_losses, shape_weights
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register
from rationalize.methods.three_player.introspection import IntrospectiveSelector
from rationalize.models.classifier import Classifier
from rationalize.models.encoder import EncoderFactory
from rationalize.models.losses import expected_switches, hinge, sparsity, task_cross_entropy
from rationalize.models.masking import complement
from rationalize.models.policy import MovingAverage, draw, explore, log_probability, policy_loss
from rationalize.text.batch import Batch

# Rewards in the released code: for a correct prediction, and for one that the complement cannot make.
ACCURACY, LEAD = 0.1, 1.2


@register(
    About(
        name="three_player",
        title="3Player",
        supervision="none",
        reference="Yu et al., EMNLP 2019",
        cite="Yu et al. 2019",
        faithful=True,
        headline="A second predictor reads the unselected words, and must do worse than the first.",
    )
)
class ThreePlayer(Method):
    """A selector that guesses the label first, a predictor on its words, and a predictor on all others.

    **Learns from** labels.

    **Objective** c(x) the selector's own guess from the full text; L_p = CE(y, q_p(x ⊗ m)), and L_c =
    CE(y, q_c(x ⊗ (1 - m))) on the complement. Predictors: min L_p, min L_c. Selector, conditioned on argmax c(x):
    min CE(y, c(x)) + L_p + λ_g · max(0, L_p - L_c + h) + λ1 · |share(m) - α| + λ2 · switches(m). With `reinforce`,
    L_p and the hinge are replaced by a policy gradient with the reward 0.1 · [q_p right] +
    1.2 · ([q_p right] - λ_c · [q_c right]) and a moving baseline.

    **Phases** `pretrain`: c on full texts. `game`, on every batch: `predict` moves both predictors, then `select` the
    selector, c included.

    **Encoder passes** The selector alone, then three in either turn. Three encoders in memory.

    **Inference** m by decoding (the best `share`) without noise; the label is q_p's, from the selected words alone. c's
    guess is reported as the label from the full text. Specials and the query are shown to both predictors.

    **Defaults** Gumbel masks and the hinge, which the released code has commented out; λ_g = 1 and h = 0.5 (chance on
    two classes costs 0.69) are ours. Masks are hard, since a half-hidden word can still be read. `reinforce` is the
    released way (reward, 5 % exploration; share and smoothness as exact expectations are ours). The selector works on
    c's vectors, as the released BERT form does, with a hidden layer in place of its GRU.

    **Pitfalls** Three players oscillate: watch select.hinge. If many places reveal the label, selecting all of them
    exceeds the share. Policy gradients are noisy, and rewards for right and wrong are coarse.
    """

    class Config(Strict):
        """Settings of three_player."""

        selection: HardApartSelectionConfig = HardApartSelectionConfig()
        hinge_weight: Weight = 1.0
        """λ_g, of the hinge."""
        margin: Weight = 0.5
        """h, how much the complement's loss should exceed the rationale's."""
        introspect_weight: Weight = 1.0
        """Weight of CE(y, c(x)) in the game."""
        guess_share: Share = 0.0
        """Share of the predictors' targets that is c's guess instead of the label (released code: 0.5)."""
        pretrain: Annotated[int, Field(ge=0)] = 1
        """Epochs of c before the game."""
        reinforce: bool = False
        """Learn from drawn masks by a policy gradient."""
        policy_weight: Weight = 0.1
        """Weight of the policy gradient."""
        anti_weight: Weight = 1.0
        """λ_c, the cost if the complement reveals the label (reinforce)."""
        exploration: Annotated[Share, Field(lt=1)] = 0.05
        """Share of even chances when masks are drawn (reinforce)."""
        selector_rate: Annotated[float, Field(gt=0)] = 1.0
        """Learning rate of the selector in the game, relative to the others' (released code: 0.1)."""

    config: Config
    costs = Passes(
        train=(PhasePasses("pretrain", 1, selecting=1, epochs=1), PhasePasses("game", 6, selecting=2)),
        explain=2,
        explain_selecting=1,
    )

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        masking = config.selection.masking
        self.selector = IntrospectiveSelector(encoders, n_classes, config.selection.layers)
        self.predictor = Classifier(encoders, n_classes, masking)
        self.opponent = Classifier(encoders, n_classes, masking)
        self.baseline = MovingAverage(0.0, 0.9)

    @property
    def pretrain_epochs(self) -> int:
        return self.config.pretrain

    def players(self) -> dict[str, list[nn.Parameter]]:
        return self.list_players("selector", "predictor", "opponent")

    def phases(self) -> tuple[Phase, ...]:
        read = Turn("read", self.introspective_loss, ("selector",))
        predict = Turn("predict", self.predictor_losses, ("predictor", "opponent"))
        choose = self.policy_losses if self.config.reinforce else self.relaxed_losses
        select = Turn("select", choose, ("selector",), lambda: {"selector": self.config.selector_rate})
        return (
            Phase("pretrain", "all", (read,), when="pretrain"),
            Phase("game", "all", (predict, select)),
        )

    def weights(self) -> dict[str, float]:
        config = self.config
        taught = {"policy": config.policy_weight} if config.reinforce else {"hinge": config.hinge_weight}
        return {**taught, "introspect": config.introspect_weight, **shape_weights(config.selection)}

    def introspective_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """c's label from the full text."""
        _, guess = self.selector.read(batch)
        return {"introspect": task_cross_entropy(guess, batch.labels)}

    def predictor_losses(self, batch: Batch, generator: torch.Generator) -> Losses:
        """L_p and L_c, one for each predictor."""
        with torch.no_grad():
            logits, guess = self.selector.read(batch)
            mask = self._draw_mask(logits, batch, generator)

        def loss(reading: Tensor) -> Tensor:
            to_guess = task_cross_entropy(reading, guess.argmax(-1))
            return torch.lerp(task_cross_entropy(reading, batch.labels), to_guess, self.config.guess_share)

        return {
            "task": loss(self.label_from_mask(batch, mask)),
            "rest": loss(self.label_from_rest(batch, mask)),
        }

    def relaxed_losses(self, batch: Batch, generator: torch.Generator) -> Losses:
        """L_p, the hinge on L_p - L_c, c's own label, and the mask's shape."""
        logits, guess = self.selector.read(batch)
        mask = self._draw_mask(logits, batch, generator)
        task = task_cross_entropy(self.label_from_mask(batch, mask), batch.labels)
        rest = task_cross_entropy(self.label_from_rest(batch, mask), batch.labels)
        return {
            "task": task,
            "hinge": hinge(task, rest, self.config.margin),
            "introspect": task_cross_entropy(guess, batch.labels),
            **shape_losses(mask, self.config.selection, batch),
        }

    def policy_losses(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The policy gradient of a drawn mask, c's own label, and the expected shape."""
        chosen, where = self.config.selection, batch.selectable
        logits, guess = self.selector.read(batch)
        mask = self._draw_mask(logits, batch, generator)
        with torch.no_grad():
            cost = -self.reward(batch, mask)
        drawn = log_probability(explore(logits, self.config.exploration), mask, where)
        chance = logits.softmax(-1)[..., 1]
        return {
            "policy": policy_loss(cost, self.baseline(cost), drawn),
            "introspect": task_cross_entropy(guess, batch.labels),
            "sparsity": sparsity(chance, where, chosen.share, chosen.sparsity),
            "continuity": expected_switches(chance, where, chosen.continuity),
        }

    def reward(self, batch: Batch, mask: Tensor) -> Tensor:
        """Reward a hard mask for the predictor's success and its lead over the complement's. (b,)."""
        right, given_away = (
            (reading.argmax(-1) == batch.labels).to(mask.dtype)
            for reading in (self.label_from_mask(batch, mask), self.label_from_rest(batch, mask))
        )
        return ACCURACY * right + LEAD * (right - self.config.anti_weight * given_away)

    def _draw_mask(self, logits: Tensor, batch: Batch, generator: torch.Generator) -> Tensor:
        if self.config.reinforce:
            return draw(explore(logits, self.config.exploration), generator) * batch.selectable
        return draw_mask(logits, self.config.selection, batch, generator)

    def explain(self, batch: Batch) -> Output:
        return read_out(self, self.config.selection, *self.selector.read(batch), batch)

    def label_from_mask(self, batch: Batch, mask: Tensor) -> Tensor:
        return self.predictor.predict(batch, mask)

    def label_from_rest(self, batch: Batch, mask: Tensor) -> Tensor:
        """Return class logits (b, C) of q_c, which reads the complement of the mask."""
        return self.opponent.predict(batch, complement(mask, batch))

    @classmethod
    def passes(cls, options: Config, n_classes: int) -> Passes:
        return cls.costs.pretrain(options.pretrain)
