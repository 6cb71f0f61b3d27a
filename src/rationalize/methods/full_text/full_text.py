"""The plain classifier, with rationales found after training."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor

from rationalize.config import Share, Strict
from rationalize.errors import ConfigError
from rationalize.methods.base import Losses, Method, Output, Phase, Turn
from rationalize.methods.full_text import attribution
from rationalize.methods.full_text.attribution import Attributions
from rationalize.methods.parts import decide_on_text
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register
from rationalize.models import decoding
from rationalize.models.classifier import Classifier
from rationalize.models.encoder import EncoderFactory
from rationalize.models.frozen import freeze_weights
from rationalize.models.losses import task_cross_entropy
from rationalize.models.transformer_encoder import TransformerEncoder
from rationalize.text.batch import Batch


@register(
    About(
        name="full_text",
        title="Full text",
        supervision="none",
        reference="post-hoc attribution: Shrikumar et al., 2016; Sundararajan et al., ICML 2017; Li et al., 2016",
        cite="Sundararajan et al. 2017",
        faithful=False,
        headline="A plain classifier of the full text; the words it relied on are found afterwards.",
    )
)
class FullText(Method):
    """A classifier without a selector, explained by attributions: the point of comparison.

    **Learns from** labels.

    **Objective** CE(y, q(x)).

    **Phases** `classify` over all examples; one turn moves everything.

    **Encoder passes** The text; an explanation reads it, then its rationale alone. With integrated_gradients `steps`
    more, with leave_one_out one more for every word.

    **Inference** The label comes from the full text. With f the logit of the predicted class minus the mean of the
    others, a word's attribution is the sum over its pieces of e · ∂f/∂e (gradient_x_input) or of the same integrated
    from the hidden to the full text (integrated_gradients), f(x) - f(x without the word) (leave_one_out), its attention
    in the last layer (attention), or a pseudo-random number (random, the control). The `share` of words with the
    highest attribution is shown; scores are attributions stretched to [0, 1].

    **Defaults** gradient_x_input, since it costs one backward pass; share 0.2 as elsewhere; set it to the share of
    the methods that it is compared with. Words against the label are never preferred (no absolute values). With 32
    steps, integrated gradients sum to f(x) - f(hidden) within a few percent.

    **Pitfalls** Nothing makes the classifier decide on the words shown, so it is not faithful, and attributions
    disagree with each other. attention needs a transformer, and runs its unfused form. leave_one_out reads the text
    once per word.
    """

    class Config(Strict):
        """Settings of full_text."""

        attribution: Literal[
            "gradient_x_input", "integrated_gradients", "attention", "leave_one_out", "random"
        ] = "gradient_x_input"
        """How the words are found."""
        share: Share = 0.2
        """Share of the words that is shown."""
        steps: Annotated[int, Field(gt=0)] = 32
        """Points between the hidden and the full text (integrated_gradients)."""
        masking: Literal["mix", "zero"] = "mix"
        """What replaces a hidden word in integrated_gradients, leave_one_out and the reading of the rationale:
        [MASK], or nothing."""

    config: Config
    costs = Passes(train=(PhasePasses("classify", 1),), explain=2)

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        self.net = Classifier(encoders, n_classes, config.masking)
        if config.attribution == "attention" and not isinstance(self.net.encoder, TransformerEncoder):
            raise ConfigError(
                f"options.attribution is attention, but encoder {encoders.config.name} has none. "
                "Choose another attribution, or a transformer encoder."
            )

    def phases(self) -> tuple[Phase, ...]:
        return (Phase("classify", "all", (Turn("learn", self.full_text_loss),)),)

    def full_text_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from the full text."""
        return {"task": task_cross_entropy(self.net.read(batch), batch.labels)}

    def explain(self, batch: Batch) -> Output:
        with freeze_weights(self.net):
            found = self.attribute(batch)
        scores = attribution.stretch_scores(found.pieces, batch.selectable)
        words = decoding.topk(scores, attribution.find_first_pieces(batch), self.config.share)
        mask = decoding.complete_words(words, batch.words, batch.selectable)
        rationale = self.label_from_mask(batch, mask)
        return Output(mask, scores, found.logits, full_text=found.logits, rationale=rationale)

    def decide(self, batch: Batch) -> Output:
        """Predict the label alone, without attributions."""
        return decide_on_text(self.net.read(batch), batch)

    def label_from_mask(self, batch: Batch, mask: Tensor) -> Tensor:
        return self.net.predict(batch, mask)

    def attribute(self, batch: Batch) -> Attributions:
        """Attribute the label to words (each piece has its word's value), and return the full text's logits."""
        kind, net = self.config.attribution, self.net
        if kind == "random":
            return Attributions(attribution.draw_scores(batch, seed=0), net.read(batch))
        if kind == "leave_one_out":
            return attribution.leave_one_out(net.predict, batch)
        if kind == "attention":
            assert isinstance(net.encoder, TransformerEncoder)  # checked when it was built
            looks, reading = attribution.measure_attention(net.encoder, batch)
            found = Attributions(looks, net.head(reading.pooled))
        elif kind == "integrated_gradients":
            found = attribution.integrated_gradients(net.predict, batch, self.config.steps)
        else:
            found = attribution.gradient(lambda some, mask: net.predict(some, mask, "zero"), batch)
        return Attributions(attribution.sum_by_word(found.pieces, batch), found.logits)

    @classmethod
    def passes(cls, options: Config, n_classes: int) -> Passes:
        stated = cls.costs
        if options.attribution == "integrated_gradients":
            return replace(stated, explain=stated.explain + options.steps)
        return replace(stated, explain_word=1) if options.attribution == "leave_one_out" else stated
