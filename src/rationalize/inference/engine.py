"""Explain examples: cut them into windows, batch these by length, merge them back into whole documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch

from rationalize.config import Precision
from rationalize.errors import ConfigError, DataError
from rationalize.inference._window_merge import (
    WindowOutput,
    WindowWeights,
    merge_selection,
    weigh_windows,
)
from rationalize.inference.confidence import ConfidenceRule
from rationalize.inference.precision import check_precision, set_precision
from rationalize.methods.base import Method, Output
from rationalize.methods.hooks import DecidesAlone, KnowsOracle
from rationalize.text.batch import Batch, InputRow, collate, cut_batches
from rationalize.text.windows import Encoded, TextEncoder
from rationalize.text.words import mask_spans
from rationalize.types import Example, Explanation

CPU_BATCH_TOKENS = 2048
"""Pieces per batch on a CPU, which reads no faster in larger ones."""
BATCH_TOKENS = 16384
"""Pieces per batch on other devices."""
PADDING = 0.05
"""Largest share of a batch that is padding."""
LEAST_TOKENS = 256
"""Pieces up to which a batch may have more padding: to load the weights once more costs as much as a dozen pieces."""
CHUNK_ROWS = 4096
CHUNK_CHARACTERS = 500_000
"""A stream is read so many examples at a time, or fewer if they are long: within these, texts of similar length are
read together, and before the last of them is read there is no answer."""


@dataclass(frozen=True, slots=True)
class Explained:
    """An explanation with the details that scoring needs.

    Attributes:
        explanation: What the user sees.
        encoded: How the example was read.
        pieces: Whether each document piece that was read is selected, in order.
    """

    explanation: Explanation
    encoded: Encoded
    pieces: np.ndarray


class Engine:
    """Explains examples with a trained method.

    Threads can share an engine, and engines a model: a call changes nothing that another one reads. What else is in
    the same call does not change an answer, either (beyond the rounding of single precision).

    With `oracle_label`, the method gets the gold label of every example (only some methods can use it): papers
    scored such rationales, but they are not explanations. Results are marked by their own `oracle_label`.

    Args:
        method: The trained method.
        text: Cuts texts into windows.
        labels: Names of the classes.
        oracle_label: Give the method the gold labels.
        batch_tokens: Word pieces (padding included) that are read at once; None: 2,048 on a CPU, 16,384 elsewhere.
        rule: How sure a label is, and from when on it is withheld.
        precision: Of matrix products inside encoders: `fp32`, or `bf16`, which is faster where the processor can, and
            rounds. An exported model has the one that it was exported with.
    """

    def __init__(
        self,
        method: Method,
        text: TextEncoder,
        labels: Sequence[str],
        *,
        oracle_label: bool = False,
        batch_tokens: int | None = None,
        rule: ConfidenceRule = ConfidenceRule(),  # noqa: B008  # frozen
        precision: Precision = "fp32",
    ) -> None:
        if batch_tokens is not None and batch_tokens < 1:
            raise ConfigError(
                f"batch_tokens: got {batch_tokens}, expected 1 or more word pieces.", field="batch_tokens"
            )
        check_precision(precision, method)
        self.method = method
        self.text = text
        self.labels = tuple(labels)
        self.oracle_label = oracle_label
        self.batch_tokens = batch_tokens
        self.rule = rule
        self.precision = precision
        self.explainer: Callable[[Batch], Output] | None = None
        """Explains a batch in place of the method: several processes do so together while they train it."""

    def explain(
        self, examples: Iterable[Example], *, truncate: bool = False, chunk: int = CHUNK_ROWS
    ) -> Iterator[Explained]:
        """Explain in order, at most `chunk` examples at a time, so that any number of them streams through."""
        for part in take_chunks(examples, chunk):
            yield from self.explain_encoded(self.text.encode_all(part, truncate=truncate))

    def explain_encoded(self, encoded: Sequence[Encoded]) -> list[Explained]:
        """Explain examples that are tokenized already."""
        ask = self._choose_explainer()
        return [self._merge(*each) for each in self._ask(ask, encoded)]

    def predict(
        self, examples: Iterable[Example], *, truncate: bool = False, chunk: int = CHUNK_ROWS
    ) -> Iterator[dict[str, float]]:
        """Yield class probabilities of any number of examples, in order, as `probabilities` computes them."""
        for part in take_chunks(examples, chunk):
            yield from self.probabilities(self.text.encode_all(part, truncate=truncate))

    def probabilities(self, encoded: Sequence[Encoded]) -> list[dict[str, float]]:
        """Return only the class probabilities behind the label; this may cost less than an explanation."""
        ask = self.method.decide if isinstance(self.method, DecidesAlone) else self.method.explain
        return [self._name(self._decide(*each)) for each in self._ask(ask, encoded)]

    def _choose_explainer(self) -> Callable[[Batch], Output]:
        """Return the explaining function: the method's own, or the one that is given the label."""
        if not self.oracle_label:
            return self.explainer or self.method.explain
        if not isinstance(self.method, KnowsOracle):
            raise ConfigError(
                f"oracle_label: method {self.method.about.name} cannot be given the gold label. Leave it out."
            )
        return self.method.explain_oracle

    def _ask(
        self, ask: Callable[[Batch], Output], encoded: Sequence[Encoded]
    ) -> Iterator[tuple[Encoded, list[WindowOutput]]]:
        """Yield every example with what the method says of each of its windows."""
        rows = [
            InputRow("", window, self._find_gold_label(item.example))
            for item in encoded
            for window in item.windows
        ]
        parts: list[WindowOutput | None] = [None] * len(rows)
        device = next(self.method.parameters()).device
        if self.method.training:  # asked first, so that threads do not write what others read
            self.method.eval()
        tokens = self.batch_tokens or (CPU_BATCH_TOKENS if device.type == "cpu" else BATCH_TOKENS)
        lengths = [len(row.window) for row in rows]
        for indexes in cut_batches(lengths, None, tokens, padding=PADDING, least=LEAST_TOKENS):
            found = self._run(ask, [rows[i] for i in indexes], device)
            for index, part in zip(indexes, found, strict=True):
                parts[index] = part
        filled = iter(part for part in parts if part is not None)
        for item in encoded:
            yield item, list(islice(filled, len(item.windows)))

    def _find_gold_label(self, example: Example) -> int:
        """Return the index of the label to give to the method; -1: none."""
        if not self.oracle_label:
            return -1
        if example.label not in self.labels:
            raise DataError(
                f"example {example.id!r}: label {example.label!r}, but with oracle labels every example needs one "
                f"of {', '.join(self.labels)}."
            )
        return self.labels.index(example.label)

    def _run(
        self, ask: Callable[[Batch], Output], rows: list[InputRow], device: torch.device
    ) -> list[WindowOutput]:
        with torch.no_grad(), set_precision(self.precision):  # methods may look at gradients to explain
            output = ask(collate(rows, self.text.pad_id).to(device))

        def probabilities(logits: torch.Tensor | None) -> np.ndarray | None:
            return None if logits is None else logits.cpu().double().softmax(-1).numpy()

        # Moved first: not every device has double precision.
        mask, scores = output.mask.cpu().numpy(), output.scores.cpu().double().numpy()
        decided = output.logits.cpu().double().softmax(-1).numpy()
        full_text, rationale = probabilities(output.full_text), probabilities(output.rationale)
        return [
            WindowOutput(
                mask[i, : len(row.window)],
                scores[i, : len(row.window)],
                decided[i],
                None if full_text is None else full_text[i],
                None if rationale is None else rationale[i],
            )
            for i, row in enumerate(rows)
        ]

    def _decide(
        self, encoded: Encoded, parts: list[WindowOutput], weights: WindowWeights | None = None
    ) -> np.ndarray:
        """Average the windows' class probabilities, each by its part of what the label is decided on."""
        weights = weights or weigh_windows(encoded, parts)
        chosen = weights.rationale if self.method.faithful else weights.full_text
        decided: np.ndarray = chosen @ np.stack([part.decided for part in parts])
        return decided

    def _merge(self, encoded: Encoded, parts: list[WindowOutput]) -> Explained:
        """Merge the windows of a text into one explanation."""
        selected, scores, pieces = merge_selection(encoded, parts)
        weights = weigh_windows(encoded, parts)
        probabilities = self._name(self._decide(encoded, parts, weights))
        label, confidence = self.rule.judge(probabilities)
        explanation = Explanation(
            text=encoded.example.text,
            label=label,
            probabilities=probabilities,
            spans=mask_spans(encoded.words, selected.tolist()),
            words=encoded.words,
            scores=tuple(scores.tolist()),
            selected=tuple(selected.tolist()),
            faithful=self.method.faithful,
            method=self.method.about.name,
            oracle_label=self.oracle_label,
            query=encoded.example.query,
            from_full_text=self._average([part.full_text for part in parts], weights.full_text),
            from_rationale=self._average([part.rationale for part in parts], weights.rationale),
            cut_off=encoded.cut_off,
            id=encoded.example.id,
            confidence=confidence,
        )
        return Explained(explanation, encoded, pieces)

    def _average(self, rows: list[np.ndarray | None], weights: np.ndarray) -> dict[str, float] | None:
        known = [row for row in rows if row is not None]
        return self._name(weights @ np.stack(known)) if known else None

    def _name(self, probabilities: np.ndarray) -> dict[str, float]:
        return dict(zip(self.labels, probabilities.tolist(), strict=True))


def take_chunks(examples: Iterable[Example], rows: int) -> Iterator[list[Example]]:
    """Yield the examples in lists of at most `rows`, and of few if they are long."""
    part: list[Example] = []
    characters = 0
    for example in examples:
        part.append(example)
        characters += len(example.text)
        if len(part) >= rows or characters >= CHUNK_CHARACTERS:
            yield part
            part, characters = [], 0
    if part:
        yield part
