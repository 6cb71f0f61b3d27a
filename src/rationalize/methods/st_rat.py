"""Self-training with few rationales."""

from __future__ import annotations

from copy import deepcopy
from typing import Annotated, Literal, NamedTuple

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from rationalize.config import Weight
from rationalize.methods.base import Losses, Phase, Turn, leave_out
from rationalize.methods.lessons import GoldLessons
from rationalize.methods.options import LabelConfig, SelectorConfig
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register
from rationalize.models import decoding
from rationalize.models.encoder import EncoderFactory
from rationalize.models.losses import task_cross_entropy, uniform_kl
from rationalize.models.masking import pool_masked
from rationalize.text.batch import Batch


class Lesson(NamedTuple):
    """The teacher's labels (b,) and mask (b, n) for a batch, and their weights in [0, 1]."""

    labels: Tensor
    label_weights: Tensor
    mask: Tensor
    piece_weights: Tensor


@register(
    About(
        name="st_rat",
        title="ST-RAT",
        supervision="part",
        reference="Bhat, Sordoni and Mukherjee, EMNLP 2021",
        cite="Bhat et al. 2021",
        faithful=False,
        headline="A teacher learned from few rationales marks the other texts; a student learns from both, in rounds.",
    )
)
class STRAT(GoldLessons):
    """Four heads on one encoder, trained on gold rationales and on those of an earlier copy of itself.

    **Learns from** labels everywhere, gold rationales on `data.gold_share` of the examples.

    **Objective** On gold: CE(y, q(x)) + token cross-entropy + CE(y, q_r(x ⊗ m̂)), q_r a separate head. On the rest,
    with the teacher's likelier choice r' and its confidence v_i = max p(r'_i): w CE(y', q(x)) +
    mean_i v_i [CE(r'_i) + λ1 π_i + λ2 |π_i - π_{i-1}|] + w CE(y', q_r(x ⊗ r')) + KL(U ‖ q_c(x ∖ r')), π the selection
    probability, q_c the fourth head. y' = y and w = 1, or with `pseudo_labels` the teacher's label and its
    probability.

    **Phases** `teacher` over the gold pool for `teacher_epochs`. Then an epoch is a round: the teacher becomes a copy
    of the current network; `pseudo` learns from it over the rest; `tune` refreshes the gold rationales over the gold
    pool. The best round is the epoch that is best on dev.

    **Encoder passes** The text, on gold also its rationale; on the rest teacher, text, rationale and complement. Two
    encoders in memory and in the saved model.

    **Inference** m by decoding (the best `share`); the label from the full text, or with `label_from: rationale` from
    q_r on the selected words alone (both are reported; only the latter is faithful).

    **Defaults** λ1 = 0.1, λ2 = 0.01, pieces hidden from attention, as in the released code, which computes L1 on logits
    and coherence across the batch; ours are on probabilities and neighbors. True labels are kept, since they are
    known here. Left out: restarts of the teacher, class weights, a cap on pseudo examples, dropout of up to 0.5.

    **Pitfalls** Confirmation bias: the student learns the teacher's errors as truth. Rows in which the teacher marks
    nothing teach the label alone, not to mark nothing.
    """

    class Config(LabelConfig, GoldLessons.Config):
        """Settings of st_rat."""

        class Readout(SelectorConfig):
            """How masks are read out, and unselected pieces hidden."""

            masking: Literal["mix", "zero", "attention"] = "attention"
            """How pieces are hidden from q_r and q_c."""

        selection: Readout = Readout()
        teacher_epochs: Annotated[int, Field(gt=0)] = 20
        """Epochs over the gold pool before the first round."""
        pseudo_labels: bool = False
        """Learn the teacher's labels on the rest, weighted by its confidence, instead of the true ones."""
        length_weight: Weight = 0.1
        """λ1."""
        continuity_weight: Weight = 0.01
        """λ2."""
        label_from: Literal["rationale", "full_text"] = "full_text"
        """Which reading decides the label."""

    config: Config
    costs = Passes(
        train=(
            PhasePasses("teacher", 1, pool="gold", epochs=20),
            PhasePasses("pseudo", 4, pool="rest"),
            PhasePasses("tune", 2, pool="gold"),
        ),
        explain=2,
    )

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        self.rationale_head = nn.Linear(self.net.encoder.hidden_size, n_classes)
        self.complement_head = nn.Linear(self.net.encoder.hidden_size, n_classes)
        self.teacher = deepcopy(self.net).requires_grad_(False)

    @property
    def pretrain_epochs(self) -> int:
        return self.config.teacher_epochs

    def players(self) -> dict[str, list[nn.Parameter]]:
        return {"model": leave_out(self.parameters(), self.teacher.parameters())}

    def phases(self) -> tuple[Phase, ...]:
        return (
            Phase("teacher", "gold", (Turn("learn", self.supervised_loss),), when="pretrain"),
            Phase("pseudo", "rest", (Turn("imitate", self.pseudo_loss),)),
            Phase("tune", "gold", (Turn("tune", self.gold_loss),)),
        )

    def weights(self) -> dict[str, float]:
        return {
            **super().weights(),
            "length": self.config.length_weight,
            "continuity": self.config.continuity_weight,
        }

    def counts(self, batch: Batch) -> dict[str, float]:
        """Count on gold; what the teacher will mark in the rest is not known beforehand."""
        return {**super().counts(batch), "rationale": float(batch.has_gold.sum())}

    def begin_epoch(self, epoch: int) -> None:
        """Begin a round: the teacher becomes a copy of the network."""
        if epoch >= self.pretrain_epochs:
            self.teacher.load_state_dict(self.net.state_dict())

    def gold_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """L_sup, and the label from the gold rationale alone."""
        losses = self.supervised_loss(batch, generator)
        rows = batch.has_gold
        if bool(rows.any()):
            part = batch.rows(rows)
            losses["rationale"] = task_cross_entropy(self.label_from_mask(part, part.gold), part.labels)
        return losses

    def pseudo_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The teacher's rationale, the label from it alone, and indecision on its complement."""
        lesson = self.teach(batch)
        select_logits, class_logits = self.net.read(batch)
        losses = {"task": _weighted_cross_entropy(class_logits, lesson.labels, lesson.label_weights)}
        marked = lesson.mask.any(-1)
        if bool(marked.any()):
            losses |= _imitation_losses(select_logits, lesson, batch.selectable & marked[:, None])
            logits = self.label_from_mask(batch.rows(marked), lesson.mask[marked])
            losses["rationale"] = _weighted_cross_entropy(
                logits, lesson.labels[marked], lesson.label_weights[marked]
            )
        complement = batch.selectable & ~lesson.mask
        left = complement.any(-1) & marked  # where nothing is marked, the complement is the whole text
        if bool(left.any()):
            pooled = self._pool(batch.rows(left), complement[left])
            losses["complement"] = uniform_kl(self.complement_head(pooled))
        return losses

    @torch.no_grad()
    def teach(self, batch: Batch) -> Lesson:
        """Return the labels and rationales of the teacher, a copy from the beginning of the round."""
        select_logits, class_logits = self.teacher.eval().read(batch)
        # The likelier tag of each piece, whatever the decoding: the weights are the confidence in exactly that.
        mask = decoding.argmax(select_logits, batch.selectable)
        if self.config.selection.whole_words:
            mask = decoding.complete_words(mask, batch.words, batch.selectable)
        piece_weights = select_logits.softmax(-1).amax(-1)
        if not self.config.pseudo_labels:
            return Lesson(batch.labels, torch.ones_like(class_logits[:, 0]), mask, piece_weights)
        certainty, labels = class_logits.softmax(-1).max(-1)
        return Lesson(labels, certainty, mask, piece_weights)

    def label_from_mask(self, batch: Batch, mask: Tensor) -> Tensor:
        logits: Tensor = self.rationale_head(self._pool(batch, mask))
        return logits

    def _pool(self, batch: Batch, mask: Tensor) -> Tensor:
        return pool_masked(self.net.encoder, batch, mask, self.net.masking)

    @classmethod
    def passes(cls, options: Config, n_classes: int) -> Passes:
        stated = super().passes(options, n_classes).pretrain(options.teacher_epochs)
        if options.selection.shared_encoder:
            return stated
        return stated.add(1, "teacher", "tune", selecting=1).add(2, "pseudo", selecting=2)


def _weighted_cross_entropy(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """Return mean_b w_b CE_b."""
    return (weights * F.cross_entropy(logits, labels, reduction="none")).mean()


def _imitation_losses(select_logits: Tensor, lesson: Lesson, where: Tensor) -> Losses:
    """Imitate the teacher's mask, and penalize length and switches, each piece weighted by the teacher's confidence."""
    log_p, weights = select_logits.log_softmax(-1), lesson.piece_weights
    missed = -log_p.gather(-1, lesson.mask.long()[..., None]).squeeze(-1)
    chance = log_p[..., 1].exp()
    switches = (chance[:, 1:] - chance[:, :-1]).abs()
    pairs = where[:, 1:] & where[:, :-1]
    return {
        "select": _average(weights * missed, where),
        "length": _average(weights * chance, where),
        "continuity": _average(weights[:, 1:] * switches, pairs),
    }


def _average(values: Tensor, where: Tensor) -> Tensor:
    return (values * where).sum() / where.sum().clamp(min=1)
