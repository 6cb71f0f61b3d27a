"""Comprehensiveness and sufficiency of a model's rationales, measured by running it on reduced inputs.

p is the model's own probability of the label that it gives to the full input, from whatever it decides on. A
reduced text is an input like any other: a method that selects first and predicts then selects anew in it.
Beside the model stands a selector that picks as many words of each text at random.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rationalize.errors import ConfigError
from rationalize.evaluation.removal import Keep, Removal, fingerprint, reduced
from rationalize.inference.engine import Engine, Explained
from rationalize.metrics.faithfulness import BINS, Ablation, Probabilities, Row, faithfulness_row
from rationalize.metrics.selectors import at_least_share, top_words, trivial_scores

WORDS_AT_ONCE = 20_000  # words of full texts whose reduced versions are held in memory together


@dataclass(frozen=True)
class Faithfulness:
    """What reduced inputs did to the model's probabilities.

    Attributes:
        removal: How words were taken away.
        bins: Shares of the words that were removed and kept, highest-scored first.
        own: For every example, in order: the model's rationale and scores.
        random: The same for as many words drawn at random.
        n_read: How many different reduced inputs the model read.
    """

    removal: Removal
    bins: tuple[float, ...]
    own: tuple[Ablation, ...]
    random: tuple[Ablation, ...]
    n_read: int

    @cached_property
    def row(self) -> Row:
        """The model's numbers by name."""
        return faithfulness_row(self.own, self.bins)

    @cached_property
    def random_row(self) -> Row:
        """The random selector's numbers by name."""
        return faithfulness_row(self.random, self.bins)


@dataclass(frozen=True, slots=True)
class _Choice:
    """The words that somebody chose in a text: a rationale, and the best of a ranking at every bin."""

    item: Explained
    rationale: Keep
    top: dict[float, Keep]

    def inputs(self) -> Iterator[Keep]:
        """All that the model has to read."""
        for chosen in (self.rationale, *self.top.values()):
            yield chosen
            yield _rest(chosen)


def faithfulness(
    engine: Engine,
    explained: Iterable[Explained],
    *,
    removal: Removal = "drop",
    bins: Sequence[float] = BINS,
    seed: int = 0,
) -> Faithfulness:
    """Run the model on reduced versions of what it explained.

    With five bins, up to 24 reduced inputs per example: 12 for the model's choice, 12 for the random one. Each
    pair of them (what is kept, what is left) is as long as the text, so all cost as much as explaining the
    examples twelve times; equal inputs are read once.

    Args:
        engine: Of the model that made the explanations.
        explained: Its explanations.
        removal: `drop` deletes words, `mask` hides them.
        bins: Shares of the words for the AOPC numbers; k is rounded up, of equal scores the earlier word goes
            first.
        seed: Of the random selector.
    """
    if removal not in ("drop", "mask"):
        raise ConfigError(f"faithfulness: unknown removal {removal!r}; expected drop or mask.")
    reader = _Reader(engine, removal)
    own: list[Ablation] = []
    random: list[Ablation] = []
    for items in _parts(explained):
        by_model = [_own_choice(item, bins) for item in items]
        by_chance = [_random_choice(item, bins, seed) for item in items]
        reader.read([(choice.item, keep) for choice in by_model + by_chance for keep in choice.inputs()])
        own += map(reader.ablation, by_model)
        random += map(reader.ablation, by_chance)
    return Faithfulness(removal, tuple(bins), tuple(own), tuple(random), reader.n_read)


class _Reader:
    """Has reduced inputs read by the model, many at a time, each different one once."""

    def __init__(self, engine: Engine, removal: Removal) -> None:
        self.engine = engine
        self.removal = removal
        self._known: dict[bytes, Probabilities] = {}

    @property
    def n_read(self) -> int:
        return len(self._known)

    def read(self, wanted: Sequence[tuple[Explained, Keep]]) -> None:
        fresh = {}
        for item, keep in wanted:
            key = None if all(keep) else fingerprint(item.encoded, keep, self.removal)
            if key is not None and key not in self._known and key not in fresh:
                fresh[key] = reduced(item.encoded, keep, self.engine.text, self.removal)
        self._known.update(zip(fresh, self.engine.probabilities(list(fresh.values()))))

    def ablation(self, choice: _Choice) -> Ablation:
        explanation = choice.item.explanation
        return Ablation(
            full=explanation.probabilities,
            without=self._at(choice.item, _rest(choice.rationale)),
            only=self._at(choice.item, choice.rationale),
            without_top={share: self._at(choice.item, _rest(top)) for share, top in choice.top.items()},
            only_top={share: self._at(choice.item, top) for share, top in choice.top.items()},
            label=explanation.label,
        )

    def _at(self, item: Explained, keep: Keep) -> Probabilities:
        if all(keep):
            return item.explanation.probabilities
        return self._known[fingerprint(item.encoded, keep, self.removal)]


def _own_choice(item: Explained, bins: Sequence[float]) -> _Choice:
    n = item.encoded.n_words_read
    return _choice(item, item.explanation.selected[:n], item.explanation.scores[:n], bins)


def _random_choice(item: Explained, bins: Sequence[float], seed: int) -> _Choice:
    n = item.encoded.n_words_read
    scores = trivial_scores("random", n, seed=seed, key=("faithfulness", item.encoded.example.id))
    return _choice(item, top_words(scores, sum(item.explanation.selected[:n])), scores, bins)


def _choice(item: Explained, rationale: Keep, scores: Sequence[float], bins: Sequence[float]) -> _Choice:
    top = {share: top_words(scores, at_least_share(len(scores), share)) for share in bins}
    return _Choice(item, rationale, top)


def _rest(chosen: Keep) -> Keep:
    return tuple(not each for each in chosen)


def _parts(explained: Iterable[Explained]) -> Iterator[list[Explained]]:
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
