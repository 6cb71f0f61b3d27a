"""Comprehensiveness and sufficiency of a model's rationales, measured by running it on reduced inputs.

p is the model's own probability of the label that it predicts for the full input. A reduced text is an input like
any other: a method that selects before it predicts selects again in it. As a control, a random selector picks as
many words of each text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rationalize.errors import ConfigError
from rationalize.evaluation.evaluation import FaithfulnessFacts
from rationalize.evaluation.removal import Keep, Reduced, Removal, reduce_input
from rationalize.inference.engine import Engine, Explained
from rationalize.metrics.ablations import BINS, Ablation, Probabilities, ScoreRow, faithfulness_row
from rationalize.metrics.selectors import at_least_share, top_words, trivial_scores

WORDS_AT_ONCE = 20_000  # words of full texts whose reduced versions are held in memory together


@dataclass(frozen=True)
class Faithfulness:
    """The model's probabilities on reduced inputs.

    Attributes:
        removal: How words were removed.
        bins: Shares of the words that were removed and kept, highest-scored first.
        own: For every example, in order: with the model's rationale and scores.
        random: The same for as many words drawn at random.
        n_read: Number of distinct reduced inputs that the model read.
    """

    removal: Removal
    bins: tuple[float, ...]
    own: tuple[Ablation, ...]
    random: tuple[Ablation, ...]
    n_read: int

    @property
    def facts(self) -> FaithfulnessFacts:
        """How it was measured."""
        return FaithfulnessFacts(self.removal, self.bins, len(self.own), self.n_read)

    @cached_property
    def row(self) -> ScoreRow:
        """The model's numbers by name."""
        return faithfulness_row(self.own, self.bins)

    @cached_property
    def random_row(self) -> ScoreRow:
        """The random selector's numbers by name."""
        return faithfulness_row(self.random, self.bins)


def measure_faithfulness(
    engine: Engine,
    explained: Iterable[Explained],
    *,
    removal: Removal = "drop",
    bins: Sequence[float] = BINS,
    seed: int = 0,
) -> Faithfulness:
    """Run the model on reduced versions of what it explained.

    Five bins make up to 24 reduced inputs per example: 12 for the model's choice, 12 for the random one. Each
    pair of them (what is kept, what is left) is as long as the text, so all cost as much as explaining the
    examples twelve times; equal inputs are read once.

    Args:
        engine: The model that made the explanations.
        explained: Its explanations.
        removal: `drop` deletes words, `mask` hides them.
        bins: Shares of the words for the AOPC numbers; k is rounded up, and the earlier word wins a tie.
        seed: Seed of the random selector.
    """
    check_removal(removal)
    reader = _Reader(engine, removal, bins)
    own: list[Ablation] = []
    random: list[Ablation] = []
    for items in _split_parts(explained):
        by_model = [reader.ask(item, *_choose_own(item)) for item in items]
        by_chance = [reader.ask(item, *_choose_random(item, seed)) for item in items]
        reader.read()
        own += map(reader.answer, by_model)
        random += map(reader.answer, by_chance)
    return Faithfulness(removal, tuple(bins), tuple(own), tuple(random), reader.n_read)


def check_removal(removal: str) -> None:
    """Refuse an unknown way to remove words."""
    if removal not in ("drop", "mask"):
        raise ConfigError(f"faithfulness: saw {removal!r}, expected drop or mask.", field="faithfulness")


Key = bytes | None
"""The key of a reduced input; None: nothing was removed."""


@dataclass(frozen=True, slots=True)
class _Question:
    """The inputs to read for one text and one choice of words: those words alone, and all others."""

    item: Explained
    rationale: tuple[Key, Key]
    top: dict[float, tuple[Key, Key]]


class _Reader:
    """Collects reduced inputs and lets the model read each distinct one once, many at a time."""

    def __init__(self, engine: Engine, removal: Removal, bins: Sequence[float]) -> None:
        self.engine = engine
        self.removal = removal
        self.bins = bins
        self._waiting: dict[bytes, Reduced] = {}
        self._known: dict[bytes, Probabilities] = {}

    @property
    def n_read(self) -> int:
        return len(self._known)

    def ask(self, item: Explained, rationale: Keep, scores: Sequence[float]) -> _Question:
        """Queue a rationale, and the best words by score at every bin, to be read."""
        tops = {share: top_words(scores, at_least_share(len(scores), share)) for share in self.bins}
        return _Question(
            item, self._pair(item, rationale), {share: self._pair(item, top) for share, top in tops.items()}
        )

    def read(self) -> None:
        """Read all queued inputs."""
        encoded = [each.encode(self.engine.text) for each in self._waiting.values()]
        self._known.update(zip(self._waiting, self.engine.probabilities(encoded)))
        self._waiting.clear()

    def answer(self, question: _Question) -> Ablation:
        full = question.item.explanation.probabilities

        def look_up(key: Key) -> Probabilities:
            return full if key is None else self._known[key]

        only, without = map(look_up, question.rationale)
        return Ablation(
            full=full,
            without=without,
            only=only,
            without_top={share: look_up(without) for share, (_, without) in question.top.items()},
            only_top={share: look_up(only) for share, (only, _) in question.top.items()},
            label=question.item.explanation.label,
        )

    def _pair(self, item: Explained, chosen: Keep) -> tuple[Key, Key]:
        return self._wait_for(item, chosen), self._wait_for(item, tuple(not each for each in chosen))

    def _wait_for(self, item: Explained, keep: Keep) -> Key:
        if all(keep):
            return None
        wanted = reduce_input(item.encoded, keep, self.removal)
        key = wanted.key
        if key not in self._known:
            self._waiting.setdefault(key, wanted)
        return key


Choice = tuple[Keep, Sequence[float]]
"""A rationale, and the score of each word."""


def _choose_own(item: Explained) -> Choice:
    n = item.encoded.n_words_read
    return item.explanation.selected[:n], item.explanation.scores[:n]


def _choose_random(item: Explained, seed: int) -> Choice:
    n = item.encoded.n_words_read
    scores = trivial_scores("random", n, seed=seed, key=("faithfulness", item.encoded.example.id))
    return top_words(scores, sum(item.explanation.selected[:n])), scores


def _split_parts(explained: Iterable[Explained]) -> Iterator[list[Explained]]:
    part: list[Explained] = []
    weight = 0
    for item in explained:
        part.append(item)
        weight += 1 + len(item.encoded.words)
        if weight >= WORDS_AT_ONCE:
            yield part
            part, weight = [], 0
    if part:
        yield part
