"""Find the evidence sentence, then classify it: two models that never meet in training."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rationalize.config import Strict
from rationalize.methods.base import Losses, Method, Output, Phase, Turn
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.pipeline.dropping import drop_hidden, split_units
from rationalize.methods.registry import About, register
from rationalize.models.classifier import Classifier
from rationalize.models.encoder import EncoderFactory
from rationalize.models.losses import task_cross_entropy
from rationalize.models.units import Units, find_units
from rationalize.text.batch import Batch


@register(
    About(
        name="pipeline",
        title="Pipeline",
        supervision="full",
        reference="Lehman et al., NAACL 2019; BERT-to-BERT of DeYoung et al., ACL 2020",
        cite="Lehman et al. 2019",
        faithful=True,
        headline="One model finds the evidence sentence, another classifies it; they share nothing.",
        needs_marks=True,
    )
)
class Pipeline(Method):
    """An identifier that finds evidence sentences, and a classifier that reads them.

    **Learns from** labels and a gold rationale for every training example (`data.gold_share` is taken as 1). A
    sentence that touches gold is evidence.

    **Objective** Inputs are [CLS] query [SEP] sentence [SEP]. Identifier: CE(evidence or not) over the evidence
    sentences and as many others of the same text, drawn anew at every step. Classifier: CE(y, q(sentence)) over
    the evidence sentences, each an example of its own.

    **Phases** `supervised` over all examples; two turns on every batch, `identify` moves the identifier and
    `classify` the classifier.

    **Encoder passes** One in either turn; an explanation reads all sentences, then the chosen one. Inputs are as
    short as a sentence, so a pass costs less than one over the text. Two encoders in memory.

    **Inference** The sentence with the highest score is the rationale, and the classifier reads nothing else. A
    word's score is the probability of its sentence.

    **Defaults** as ERASER's BERT-to-BERT: 1 : 1 negatives, one sentence. Its training settings were lr 1e-5, batch
    10 to 32, 10 epochs.

    **Pitfalls** A label without any marked sentence cannot be learned (gold in one class only), and is refused. One
    sentence limits recall if gold is long. The classifier is trained on gold sentences and used on
    found ones. A text longer than the window has one selected sentence per window. In a text with several lines, each
    line counts as a sentence; if there is only one sentence, everything is selected.
    """

    class Config(Strict):
        """Settings of pipeline: none."""

    config: Config
    costs = Passes(train=(PhasePasses("supervised", 2),), explain=2)

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        self.identifier = Classifier(encoders, 2, labels=False)
        self.classifier = Classifier(encoders, n_classes)

    def players(self) -> dict[str, list[nn.Parameter]]:
        return self.list_players("identifier", "classifier")

    def phases(self) -> tuple[Phase, ...]:
        identify = Turn("identify", self.identify_loss, ("identifier",))
        classify = Turn("classify", self.classify_loss, ("classifier",))
        return (Phase("supervised", "all", (identify, classify)),)

    def counts(self, batch: Batch) -> dict[str, float]:
        units = _find_sentences(batch)
        evidence = units.find_touched(batch.gold).sum(-1)
        others = torch.minimum(units.present.sum(-1) - evidence, evidence)
        task = float(evidence.sum())
        return {**super().counts(batch), "task": task, "identify": task + float(others.sum())}

    def identify_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """Evidence sentences against as many others."""
        sentences, texts, _ = split_units(batch, _find_sentences(batch))
        chosen = add_negatives(sentences.has_gold, texts, generator)
        return {"identify": _sentence_loss(self.identifier, sentences, sentences.has_gold.long(), chosen)}

    def classify_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from each evidence sentence."""
        sentences, _, _ = split_units(batch, _find_sentences(batch))
        return {"task": _sentence_loss(self.classifier, sentences, sentences.labels, sentences.has_gold)}

    def explain(self, batch: Batch) -> Output:
        units = _find_sentences(batch)
        sentences, texts, numbers = split_units(batch, units)
        logits = self.identifier.read(sentences)
        margins = torch.full(units.present.shape, float("-inf"), dtype=logits.dtype, device=logits.device)
        margins[texts, numbers] = logits[:, 1] - logits[:, 0]
        mask = units.inside & (units.index == margins.argmax(-1, keepdim=True))
        rationale = self.label_from_mask(batch, mask)
        return Output(mask, units.spread(margins.sigmoid()), rationale, rationale=rationale)

    def label_from_mask(self, batch: Batch, mask: Tensor) -> Tensor:
        return self.classifier.read(drop_hidden(batch, mask))


def _find_sentences(batch: Batch) -> Units:
    return find_units(batch.sentences, batch.selectable)


def add_negatives(evidence: Tensor, texts: Tensor, generator: torch.Generator) -> Tensor:
    """Add to the evidence sentences as many others of the same text, if it has them, at random. (s,) bool."""
    drawn = torch.rand(len(evidence), generator=generator, device=generator.device).to(evidence.device)
    chosen = evidence.clone()
    for text in range(int(texts.max()) + 1):
        own = texts == text
        others = (own & ~evidence).nonzero().squeeze(-1)
        chosen[others[drawn[others].argsort()[: int((own & evidence).sum())]]] = True
    return chosen


def _sentence_loss(model: Classifier, sentences: Batch, wanted: Tensor, chosen: Tensor) -> Tensor:
    """Average the cross-entropy over the chosen sentences; without any, the loss and its gradients are 0."""
    if not bool(chosen.any()):
        return 0 * model.read(sentences.rows(slice(1))).sum()
    return task_cross_entropy(model.read(sentences.rows(chosen)), wanted[chosen])
