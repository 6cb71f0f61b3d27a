"""Explain examples: split them into windows, batch by length, merge windows back into whole documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch

from rationalize.errors import ConfigError, DataError
from rationalize.methods.base import Method, Output
from rationalize.methods.hooks import DecidesAlone, KnowsOracle
from rationalize.text.batch import Batch, InputRow, collate, cut_batches
from rationalize.text.windows import Encoded, TextEncoder
from rationalize.text.words import mask_spans
from rationalize.types import Example, Explanation


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


@dataclass(frozen=True, slots=True)
class _Part:
    """A method's output for one window, as arrays without padding."""

    mask: np.ndarray
    scores: np.ndarray
    decided: np.ndarray
    full_text: np.ndarray | None
    rationale: np.ndarray | None


class Engine:
    """Explains examples with a trained method.

    With `oracle_label`, the method gets the gold label of every example (only some methods can use it): papers
    scored such rationales, but they are not explanations. Results are marked by their own `oracle_label`.
    """

    def __init__(
        self, method: Method, text: TextEncoder, labels: Sequence[str], *, oracle_label: bool = False
    ) -> None:
        self.method = method
        self.text = text
        self.labels = tuple(labels)
        self.oracle_label = oracle_label

    def explain(
        self, examples: Iterable[Example], *, truncate: bool = False, batch_size: int = 32, chunk: int = 256
    ) -> Iterator[Explained]:
        """Explain in order, `chunk` examples at a time, so that any number of them streams through."""
        source = iter(examples)
        while part := list(islice(source, chunk)):
            encoded = [self.text.encode(example, truncate=truncate) for example in part]
            yield from self.explain_encoded(encoded, batch_size)

    def explain_encoded(self, encoded: Sequence[Encoded], batch_size: int = 32) -> list[Explained]:
        """Explain examples that are tokenized already."""
        return self._ask(self._choose_explainer(), encoded, batch_size)

    def predict(
        self, examples: Iterable[Example], *, truncate: bool = False, chunk: int = 256
    ) -> Iterator[dict[str, float]]:
        """Yield class probabilities of any number of examples, in order, as `probabilities` computes them."""
        source = iter(examples)
        while part := list(islice(source, chunk)):
            yield from self.probabilities([self.text.encode(each, truncate=truncate) for each in part])

    def probabilities(self, encoded: Sequence[Encoded], batch_size: int = 32) -> list[dict[str, float]]:
        """Return only the class probabilities behind the label; this may cost less than an explanation."""
        ask = self.method.decide if isinstance(self.method, DecidesAlone) else self.method.explain
        found = self._ask(ask, encoded, batch_size)
        return [item.explanation.probabilities for item in found]

    def _choose_explainer(self) -> Callable[[Batch], Output]:
        """Return the explaining function: the method's own, or the one that is given the label."""
        if not self.oracle_label:
            return self.method.explain
        if not isinstance(self.method, KnowsOracle):
            raise ConfigError(
                f"oracle_label: method {self.method.about.name} cannot be given the gold label. Leave it out."
            )
        return self.method.explain_oracle

    def _ask(
        self, ask: Callable[[Batch], Output], encoded: Sequence[Encoded], batch_size: int
    ) -> list[Explained]:
        rows = [
            InputRow("", window, self._find_gold_label(item.example))
            for item in encoded
            for window in item.windows
        ]
        parts: list[_Part | None] = [None] * len(rows)
        for indexes in cut_batches([len(row.window) for row in rows], batch_size):
            for index, part in zip(indexes, self._run(ask, [rows[i] for i in indexes]), strict=True):
                parts[index] = part
        filled = iter(part for part in parts if part is not None)
        return [self._merge(item, list(islice(filled, len(item.windows)))) for item in encoded]

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

    def _run(self, ask: Callable[[Batch], Output], rows: list[InputRow]) -> list[_Part]:
        device = next(self.method.parameters()).device
        self.method.eval()
        with torch.no_grad():  # methods may look at gradients to explain
            output = ask(collate(rows, self.text.tokenizer.pad_token_id or 0).to(device))

        def probabilities(logits: torch.Tensor | None) -> np.ndarray | None:
            return None if logits is None else logits.cpu().double().softmax(-1).numpy()

        # Moved first: not every device has double precision.
        mask, scores = output.mask.cpu().numpy(), output.scores.cpu().double().numpy()
        decided = output.logits.cpu().double().softmax(-1).numpy()
        full_text, rationale = probabilities(output.full_text), probabilities(output.rationale)
        return [
            _Part(
                mask[i, : len(row.window)],
                scores[i, : len(row.window)],
                decided[i],
                None if full_text is None else full_text[i],
                None if rationale is None else rationale[i],
            )
            for i, row in enumerate(rows)
        ]

    def _merge(self, encoded: Encoded, parts: list[_Part]) -> Explained:
        """Merge the windows of a text into one explanation.

        Class probabilities are averaged over windows: readings of the rationale weighted by the part of it that
        each window owns, readings of the full text by the text that each owns.
        """
        selected, scores, pieces = _merge_selection(encoded, parts)
        text_weights = np.array([window.owned.sum() for window in encoded.windows], dtype=float)
        taken = np.array(
            [(part.mask & window.owned).sum() for window, part in zip(encoded.windows, parts, strict=True)],
            dtype=float,
        )
        weights = {
            "full_text": _normalize(text_weights),
            "rationale": _normalize(taken if taken.any() else text_weights),
        }
        decided_by = "rationale" if self.method.faithful else "full_text"
        decided = weights[decided_by] @ np.stack([part.decided for part in parts])
        explanation = Explanation(
            text=encoded.example.text,
            label=self.labels[int(decided.argmax())],
            probabilities=self._name(decided),
            spans=mask_spans(encoded.words, selected.tolist()),
            words=encoded.words,
            scores=tuple(scores.tolist()),
            selected=tuple(selected.tolist()),
            faithful=self.method.faithful,
            method=self.method.about.name,
            oracle_label=self.oracle_label,
            query=encoded.example.query,
            from_full_text=self._average([part.full_text for part in parts], weights["full_text"]),
            from_rationale=self._average([part.rationale for part in parts], weights["rationale"]),
            cut_off=encoded.cut_off,
            id=encoded.example.id,
        )
        return Explained(explanation, encoded, pieces)

    def _average(self, rows: list[np.ndarray | None], weights: np.ndarray) -> dict[str, float] | None:
        known = [row for row in rows if row is not None]
        return self._name(weights @ np.stack(known)) if known else None

    def _name(self, probabilities: np.ndarray) -> dict[str, float]:
        return dict(zip(self.labels, probabilities.tolist(), strict=True))


def _merge_selection(encoded: Encoded, parts: list[_Part]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Merge the windows' selected words, scores and selected pieces.

    In an overlap, a word selected in either window counts: whatever a predictor has read must be shown.
    """
    selected = np.zeros(len(encoded.words), dtype=bool)
    scores = np.zeros(len(encoded.words))
    pieces = np.zeros(sum(int(window.owned.sum()) for window in encoded.windows), dtype=bool)
    done = 0
    for window, part in zip(encoded.windows, parts, strict=True):
        piece, word = window.pair_pieces_with_words()
        np.logical_or.at(selected, word, part.mask[piece])
        np.maximum.at(scores, word, part.scores[piece])
        own = window.owned[window.selectable]
        first = (
            done - int(own.argmax()) if len(own) else 0
        )  # the pieces before it are owned by earlier windows
        pieces[first : first + len(own)] |= part.mask[window.selectable]
        done += int(own.sum())
    return selected, scores, pieces


def _normalize(weights: np.ndarray) -> np.ndarray:
    """Scale weights to sum to 1; equal weights if all are 0 (an empty text)."""
    return weights / weights.sum() if weights.any() else np.full(len(weights), 1 / len(weights))
