"""Class-wise adversarial rationalization."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor, nn

from rationalize.config import Strict, Weight
from rationalize.methods.base import Losses, Method, Output, Phase, Turn
from rationalize.methods.car.classwise import ClasswiseSelector
from rationalize.methods.options import ApartSelectionConfig, Sampler
from rationalize.methods.parts import draw_mask, shape_losses, shape_weights
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register
from rationalize.models.classifier import Classifier
from rationalize.models.encoder import EncoderFactory
from rationalize.models.losses import task_cross_entropy
from rationalize.text.batch import Batch


@register(
    About(
        name="car",
        title="CAR",
        supervision="none",
        reference="Chang et al., NeurIPS 2019",
        cite="Chang et al. 2019",
        faithful=False,
        headline="For every class an advocate picks words in its favor; a judge learns to see through them.",
    )
)
class CAR(Method):
    """One selector per class argues for that class, right or wrong, before a discriminator.

    **Learns from** labels.

    **Objective** Path t: the selector for class t is given the true label y (factual if y = t, else counterfactual)
    and draws m_t. Discriminator: min CE(y, D(x ⊗ m_t, t)). Selectors: min - λ_a · D(x ⊗ m_t, t)_t for every
    example and label, + λ1 · |share(m_t) - α| + λ2 · switches(m_t).

    **Phases** `game`, on every batch: `judge` moves the discriminator, then `argue` the selectors. Rows take the paths
    in rotation from a random start.

    **Encoder passes** Select and judge, in either turn; an explanation selects once and judges every class. Two
    encoders in memory.

    **Inference** Every selector t is given label t, and m_t is the best `share` of its pieces (decoding). The label is
    argmax_t D(x ⊗ m_t, t)_t and the rationale is that class's. The label depends on the rationales of all classes, so
    it is not faithful. `explain_oracle` shows the selection for the true class, as in the published numbers; it is not
    an explanation, since it knows the label.

    **Defaults** The selectors share an encoder; each has a head that reads the label beside every piece. The
    discriminator has its own encoder and a head per path. The original has a GRU for each, changes the path with every
    batch and defines no label. Masks as released: no noise, straight through. The share is held per
    text here, over the batch there.

    **Pitfalls** Selectors and discriminator must keep pace, and classes should be about equally frequent. Selectors
    may encode the given label in the shape of their masks.
    """

    class Config(Strict):
        """Settings of car."""

        class Selection(ApartSelectionConfig):
            """How masks are made."""

            sampler: Sampler = "argmax_hard"
            """How masks are drawn in training."""

        selection: Selection = Selection()
        argument: Literal["probability", "log"] = "probability"
        """What selectors raise: the discriminator's probability of their class, or its logarithm."""
        argument_weight: Weight = 1.0
        """λ_a."""

    config: Config
    costs = Passes(train=(PhasePasses("game", 4, selecting=2),), explain=3, explain_selecting=1)

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        self.selectors = ClasswiseSelector(encoders, n_classes, config.selection.layers)
        self.discriminator = Classifier(encoders, n_classes**2, config.selection.masking, labels=False)

    def players(self) -> dict[str, list[nn.Parameter]]:
        return self.list_players("selectors", "discriminator")

    def phases(self) -> tuple[Phase, ...]:
        judge = Turn("judge", self.discriminator_loss, ("discriminator",))
        argue = Turn("argue", self.selector_loss, ("selectors",))
        return (Phase("game", "all", (judge, argue)),)

    def weights(self) -> dict[str, float]:
        return {"argument": self.config.argument_weight, **shape_weights(self.config.selection)}

    def judge(self, batch: Batch, mask: Tensor) -> Tensor:
        """Return the discriminator's log-probabilities (b, path, class) for a mask on every path."""
        logits = self.discriminator.predict(batch, mask)
        return logits.view(len(batch), self.n_classes, self.n_classes).log_softmax(-1)

    def discriminator_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """Predict the true label from the selection for some class, made with that label known."""
        paths = self._assign_paths(batch, generator)
        with torch.no_grad():
            mask = self._draw_mask(batch, paths, generator)
        return {"task": task_cross_entropy(self._judge_on_path(batch, mask, paths), batch.labels)}

    def selector_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """Raise the discriminator's belief in the class that is argued for, and shape the mask."""
        paths = self._assign_paths(batch, generator)
        mask = self._draw_mask(batch, paths, generator)
        belief = self._judge_on_path(batch, mask, paths).gather(1, paths[:, None])
        believed = belief.exp() if self.config.argument == "probability" else belief
        return {"argument": -believed.mean(), **shape_losses(mask, self.config.selection, batch)}

    def _assign_paths(self, batch: Batch, generator: torch.Generator) -> Tensor:
        """Assign each row a class to argue for, in rotation from a random start. (b,)."""
        first = int(torch.randint(self.n_classes, (), generator=generator, device=generator.device))
        return (torch.arange(len(batch), device=batch.labels.device) + first) % self.n_classes

    def _draw_mask(self, batch: Batch, paths: Tensor, generator: torch.Generator) -> Tensor:
        logits = self.selectors.select(self.selectors.read(batch), paths, batch.labels)
        return draw_mask(logits, self.config.selection, batch, generator)

    def _judge_on_path(self, batch: Batch, mask: Tensor, paths: Tensor) -> Tensor:
        """Return the discriminator's log-probabilities (b, C), each row on its own path."""
        return self.judge(batch, mask)[torch.arange(len(batch), device=paths.device), paths]

    def explain(self, batch: Batch) -> Output:
        by_class = self.explain_classes(batch)
        return _pick(by_class, by_class[0].logits.argmax(-1))

    def explain_oracle(self, batch: Batch) -> Output:
        """Show the rationale for the true class (`batch.labels`), whatever class is predicted."""
        return _pick(self.explain_classes(batch), batch.labels)

    def explain_classes(self, batch: Batch) -> list[Output]:
        """Explain every class; all outputs have the same `logits`, the belief in each class."""
        hidden = self.selectors.read(batch)
        outputs, beliefs = [], []
        for path in range(self.n_classes):
            paths = torch.full((len(batch),), path, device=hidden.device)
            logits = self.selectors.select(hidden, paths, paths)
            mask, scores = self.config.selection.decode(logits, batch, self.cutoff)
            verdict = self.label_from_mask(batch, mask)
            beliefs.append(verdict[:, path])
            outputs.append(Output(mask, scores, verdict, rationale=verdict))
        return [replace(output, logits=torch.stack(beliefs, -1)) for output in outputs]

    def label_from_mask(self, batch: Batch, mask: Tensor) -> Tensor:
        return self.judge(batch, mask).diagonal(dim1=1, dim2=2)

    @classmethod
    def passes(cls, options: Config, n_classes: int) -> Passes:
        return replace(cls.costs, explain=1 + n_classes)


def _pick(by_class: list[Output], classes: Tensor) -> Output:
    """Take each row from the output for its class."""
    rows = torch.arange(len(classes), device=classes.device)

    def pick(parts: list[Tensor]) -> Tensor:
        return torch.stack(parts)[classes, rows]

    return Output(
        mask=pick([output.mask for output in by_class]),
        scores=pick([output.scores for output in by_class]),
        logits=by_class[0].logits,
        rationale=pick([output.rationale for output in by_class if output.rationale is not None]),
    )
