"""Adversarial training with a boundary-match constraint."""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from rationalize.config import Share, Weight
from rationalize.methods.at_bmc.attack import attack_embeddings
from rationalize.methods.at_bmc.boundaries import pair_boundaries
from rationalize.methods.at_bmc.perturb import perturb
from rationalize.methods.base import Losses, Phase, Turn
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.preparing import Additions, Workbench
from rationalize.methods.registry import About, register
from rationalize.methods.tagging import Tagger
from rationalize.models.encoder import EncoderFactory
from rationalize.models.losses import kl_divergence, task_cross_entropy
from rationalize.text.batch import Batch


@register(
    About(
        name="at_bmc",
        title="AT-BMC",
        supervision="full",
        reference="Li et al., AAAI 2022",
        cite="Li et al. 2022",
        faithful=False,
        headline="Classify, then tag with a CRF; attacked texts must keep their label, span ends fit their starts.",
    )
)
class ATBMC(Tagger):
    """A classifier that is trained against attacks, and a CRF tagger that is given the label.

    **Learns from** labels, a gold rationale for every training example (`data.gold_share` is taken as 1), and
    copies of them in which words outside the rationale are perturbed (the discrete attack).

    **Objective** CE(y, q(x)) + α [KL(sg p ‖ p') + KL(sg p' ‖ p)] + NLL of the gold tags under a CRF, mean over document
    pieces, + β BCE(s(i, j), "i…j is a gold span") over pairs of a gold start i and a gold end j, i ≤ j. p is predicted
    from embeddings e, p' from e + δ (the embedding attack): δ ~ 1e-5·N, one step of 1e-3 along ∇_δ KL, then scaled so
    that its largest entry at every piece is `attack_radius`; e and δ get no gradient. Emissions and span scores s read
    h_i + c_y, c a learned label embedding.

    **Phases** `supervised` over all examples and their copies in one shuffle; one turn moves everything.

    **Encoder passes** Text, attack, attacked text (the text alone if `adversarial_weight` is 0), of examples and
    copies. An explanation needs a second one only to report the label from the rationale alone.

    **Inference** ŷ from the full text, so it is not faithful by construction; the scores are the
    CRF's marginals given ŷ, the mask the best `share` of them, or with `decoding: argmax` (the paper) the likeliest
    tag sequence (Viterbi). The span scorer only helps training.

    **Defaults** β = 0.1 and the heads as in the released code; 20 % of the words outside the rationale are perturbed in
    one copy per example, by our own small set of changes instead of TextAttack's CheckList. α = 1 weights the mean KL
    here, in the released code its sum over batches of 4. There δ's largest entry is 1, about 18 times the entries of
    BERT-like embeddings; here the radius is relative to their root mean square (`attack_scale: absolute` is the
    released way). There the step is not scaled and is smaller than the noise, so δ is hardly an attack; here the
    gradient is scaled first. The released label embedding was never trained; here it is. Starting the emissions at the
    wanted share (`selection.share`) is ours.

    **Pitfalls** A large radius or α hides the text, and the cheapest way to p = p' is a constant p: watch the task
    loss (small encoders from scratch stop learning the label at α = 4, or at an absolute radius of 1).
    Adjacent gold spans count as one span.
    """

    class Config(Tagger.Config):
        """Settings of at_bmc."""

        adversarial_weight: Weight = 1.0
        """α; 0 leaves the embedding attack out."""
        attack_radius: Annotated[float, Field(gt=0)] = 1.0
        """Largest entry of the perturbation at every piece."""
        attack_scale: Literal["relative", "absolute"] = "relative"
        """Whether the radius is relative to the embeddings' root mean square, or absolute."""
        match_weight: Weight = 0.1
        """β."""
        copies: Annotated[int, Field(ge=0)] = 1
        """Perturbed copies of every annotated example; 0 leaves the discrete attack out."""
        perturbed_share: Share = 0.2
        """Share of the words outside the rationale that is changed in a copy."""

    config: Config
    costs = Passes(train=(PhasePasses("supervised", 3),), explain=2)

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        width = self.encoder.hidden_size
        self.class_head = nn.Sequential(nn.Linear(width, width), nn.Dropout(0.1), nn.Linear(width, n_classes))
        self.label_embedding = nn.Embedding(n_classes, width)
        nn.init.normal_(self.label_embedding.weight, std=0.02)
        self.emission_head = self.make_emission_head(width)
        self.span_head = nn.Sequential(
            nn.Linear(2 * width, 100), nn.GELU(), nn.Dropout(0.1), nn.Linear(100, 1)
        )

    @classmethod
    def prepare(cls, options: Config, bench: Workbench) -> Additions:
        """Make perturbed copies of the annotated examples."""
        annotated = set(bench.gold_ids)
        gold = [example for example in bench.train if example.id in annotated]
        copies = bench.keep_examples(
            "perturbed",
            lambda: (
                perturb(each, options.perturbed_share, bench.seed, bench.words, copy)
                for copy in range(options.copies)
                for each in gold
            ),
        )
        note = f"{len(copies)} of the training examples are copies with words outside the rationale perturbed"
        return Additions(examples=copies, notes=(note,) if copies else ())

    def phases(self) -> tuple[Phase, ...]:
        return (Phase("supervised", "all", (Turn("learn", self.supervised_loss),)),)

    def weights(self) -> dict[str, float]:
        chosen = self.config
        return {**super().weights(), "adversarial": chosen.adversarial_weight, "match": chosen.match_weight}

    def counts(self, batch: Batch) -> dict[str, float]:
        return {**super().counts(batch), "match": float(len(pair_boundaries(batch.gold).rows))}

    def supervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """Compute the losses of the label, the attack, the gold tags, and the pairs of boundaries."""
        embedded = self.encoder.embed(batch.input_ids)
        reading = self.encoder(embedded, batch.attention, batch.token_types)
        logits = self.class_head(reading.pooled)
        losses = {"task": task_cross_entropy(logits, batch.labels)}
        if self.config.adversarial_weight > 0:
            losses["adversarial"] = self._adversarial_loss(embedded.detach(), logits, batch, generator)
        losses |= self.tag_losses(reading.hidden, batch.labels, batch)
        return losses | self._match_losses(reading.hidden, batch)

    def emissions(self, hidden: Tensor, classes: Tensor) -> Tensor:
        logits: Tensor = self.emission_head(hidden + self.label_embedding(classes)[:, None])
        return logits

    def _adversarial_loss(
        self, embedded: Tensor, clean: Tensor, batch: Batch, generator: torch.Generator
    ) -> Tensor:
        def classify(changed: Tensor) -> Tensor:
            logits: Tensor = self.class_head(self.encoder(changed, batch.attention, batch.token_types).pooled)
            return logits

        radius = self.config.attack_radius
        if self.config.attack_scale == "relative":
            radius *= embedded[batch.attention].square().mean().sqrt().item()
        delta = attack_embeddings(embedded, classify, clean, generator, step=1e-3, radius=radius)
        attacked = classify(embedded + delta)
        return kl_divergence(clean.detach(), attacked) + kl_divergence(attacked.detach(), clean)

    def _match_losses(self, hidden: Tensor, batch: Batch) -> Losses:
        pairs = pair_boundaries(batch.gold)
        if len(pairs.rows) == 0:
            return {}
        labels = self.label_embedding(batch.labels[pairs.rows])
        ends = [hidden[pairs.rows, place] + labels for place in (pairs.starts, pairs.ends)]
        scores = self.span_head(torch.cat(ends, -1)).squeeze(-1)
        return {"match": F.binary_cross_entropy_with_logits(scores, pairs.matches.to(scores.dtype))}

    @classmethod
    def passes(cls, options: Config, n_classes: int) -> Passes:
        return cls.costs if options.adversarial_weight else cls.costs.add(-2, "supervised")
