"""SSR with virtual shortcut representations."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from rationalize.config import Weight
from rationalize.methods.base import Losses, Phase, Turn, gold_then_rest, leave_out
from rationalize.methods.passes import count_gold_then_rest
from rationalize.methods.registry import About, register
from rationalize.methods.semi_rat import SemiRAT
from rationalize.models.encoder import EncoderFactory
from rationalize.models.frozen import freeze
from rationalize.models.losses import squared_distance, task_cross_entropy, uniform_divergence
from rationalize.models.masking import pool_masked
from rationalize.text.batch import Batch


@register(
    About(
        name="ssr_virt",
        title="SSR_virt",
        supervision="part",
        reference="Yue et al., ICLR 2024",
        cite="Yue et al. 2024",
        faithful=True,
        headline="An imitator learns what shortcuts look like in the whole text; the predictor must not lean on it.",
        needs_shortcuts=True,
    )
)
class SSRVirt(SemiRAT):
    """Semi-RAT, plus an imitator that carries shortcut knowledge to texts without annotation.

    **Learns from** labels everywhere, gold rationales on `data.gold_share` of the examples, and the shortcuts
    that a trained Un-RAT reveals in those (settings under `shortcuts`).

    **Objective** L_un + L_sup + L_s + λ_virt L_virt + λ_diff L_diff. The external predictor has its own encoder f_pη
    and head W_η: L_s = CE(y, W_η f_pη(z_s)). Imitator f_a, the same encoder on the full text:
    L_virt = ‖f_pη(z_s) - f_a(x)‖². On the rest, with f_a frozen: L_diff = KL(U ‖ softmax(W_p f_a(x))).

    **Phases** `supervised` over the gold pool moves the rationalizer and the imitator; `unsupervised` over the
    rest moves the rationalizer only: the imitator is not touched by gradient, momentum or weight decay, and
    L_diff reaches nothing but W_p. With `shortcuts.propagate` (beyond the paper), rows with propagated
    shortcuts need no imitation: there L_diff uses f_pη(z_s) itself instead of f_a(x).

    **Encoder passes** On the gold pool the full text, then shortcuts and full text through the second encoder; on the
    rest as un_rat, and the full text through the second encoder (one more on rows with propagated
    shortcuts). Two encoders in memory.

    **Inference** as semi_rat.

    **Defaults** λ_virt = λ_diff = 0.1, L_s weight 1, W_η separate, as the paper prints them; the distance is summed
    over dimensions and averaged over the batch. f_pη starts where f_p does, from scratch too. The released
    code uses W_p for W_η and never defines L_virt.

    **Pitfalls** Both sides of L_virt move, so a constant encoder would be a minimum, which L_s prevents. Examples
    without a shortcut teach the imitator nothing and are left out of L_s and L_virt. The paper leaves the method
    undefined if all examples are annotated; here the rest is then all of them, without their gold.
    """

    class Config(SemiRAT.Config):
        """Settings of ssr_virt."""

        shortcut_weight: Weight = 1.0
        """Weight of L_s. The released code: 0.1 without and 1 with augmentation."""
        virtual_weight: Weight = 0.1
        """λ_virt."""
        difference_weight: Weight = 0.1
        """λ_diff."""
        kl: Literal["uniform_to_q", "q_to_uniform"] = "uniform_to_q"
        """Direction of the divergence: as printed in the paper, or as in its released code."""
        fixed_target: bool = False
        """Stop the gradient at f_pη(z_s) in L_virt, so that only the imitation moves."""
        shared_heads: bool = True
        """W_a is W_p. Off (an ablation): W_a is a head of its own, and L_diff no longer reaches the predictor."""

    config: Config
    costs = count_gold_then_rest(3, 3)

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        self.imitator = encoders.make()
        # Like two copies of one pretrained encoder: W_p could not judge vectors from an unrelated space.
        self.imitator.load_state_dict(self.net.encoder.state_dict())
        self.shortcut_head = nn.Linear(self.imitator.hidden_size, n_classes)
        self.own_head = None if config.shared_heads else nn.Linear(self.imitator.hidden_size, n_classes)

    def players(self) -> dict[str, list[nn.Parameter]]:
        imitator = [*self.imitator.parameters(), *self.shortcut_head.parameters()]
        return {"model": leave_out(self.parameters(), imitator), "imitator": imitator}

    def phases(self) -> tuple[Phase, ...]:
        lesson = Turn("learn", self.supervised_loss, ("model", "imitator"))
        return gold_then_rest(lesson, Turn("play", self.unsupervised_loss))

    def weights(self) -> dict[str, float]:
        return {
            **super().weights(),
            "shortcut": self.config.shortcut_weight,
            "virtual": self.config.virtual_weight,
            "difference": self.config.difference_weight,
        }

    def counts(self, batch: Batch) -> dict[str, float]:
        shown = super().counts(batch)
        return {**shown, "shortcut": shown["uniform"], "virtual": shown["uniform"]}

    def supervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """L_sup; L_s and L_virt on the rows that have a shortcut."""
        losses = super().supervised_loss(batch, generator)
        rows = batch.shortcuts.any(-1)
        if bool(rows.any()):
            part = batch.rows(rows)
            shortcut = self._read_shortcuts(part)
            target = shortcut.detach() if self.config.fixed_target else shortcut
            losses["shortcut"] = task_cross_entropy(self.shortcut_head(shortcut), part.labels)
            losses["virtual"] = squared_distance(target, self._imitate(part))
        return losses

    def unsupervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """L_un, and indecision on the shortcuts that the frozen imitator infers, or on known ones."""
        losses = super().unsupervised_loss(batch, generator)
        given = batch.shortcuts.any(-1)
        with freeze(self.imitator):
            virtual = self._imitate(batch)
            if bool(given.any()):
                virtual[given] = self._read_shortcuts(batch.rows(given))
        head = self.own_head or self.net.class_head
        losses["difference"] = uniform_divergence(head(virtual), self.config.kl)
        return losses

    def _imitate(self, batch: Batch) -> Tensor:
        return self.imitator.read(batch).pooled

    def _read_shortcuts(self, batch: Batch) -> Tensor:
        return pool_masked(self.imitator, batch, batch.shortcuts.float(), self.net.masking)
