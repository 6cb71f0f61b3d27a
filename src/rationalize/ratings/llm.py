"""Rate a study with a language model: estimate the cost, then rate item by item, resumably."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rationalize.errors import RationalizeError
from rationalize.ratings._prompt import Unusable, ask_again, read_grades, write_messages
from rationalize.ratings.endpoint import Endpoint, NoAnswer
from rationalize.ratings.guide import Grades, Guide
from rationalize.ratings.rating_store import LLM, Failure, RatingStore, lock_rater
from rationalize.ratings.study import Item, Study, open_study

CHARACTERS_PER_TOKEN = 4
ANSWER_TOKENS = 30
IN_A_ROW = 3  # items without an answer before giving up on the endpoint

Watch = Callable[[Iterable[Item], int], Iterable[Item]]


@dataclass(frozen=True, slots=True)
class Estimate:
    """The rough cost of rating, if every first answer is usable."""

    calls: int
    tokens_in: int
    tokens_out: int
    price: float | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of rating."""

    rater: str
    rated: int
    skipped: int
    failed: tuple[Failure, ...]


def name_rater(endpoint: Endpoint) -> str:
    """Return the rater name of a language model; each temperature is another rater."""
    warmth = {0.0: "", None: " (its own temperature)"}
    return (
        f"{LLM}{endpoint.model}{warmth.get(endpoint.temperature, f' (temperature {endpoint.temperature})')}"
    )


def list_items_left(study: Study, store: RatingStore, rater: str) -> list[Item]:
    """List the items that the rater has not fully graded; failed ones come last, so as not to block others."""
    wanted = set(study.info.guide.question_ids)
    given = store.read_grades(rater)
    failed = {failure.item for failure in store.read_failures() if failure.rater == rater}
    left = [item for item in study.items if not wanted <= given.get(item.id, {}).keys()]
    return sorted(left, key=lambda item: item.id in failed)


def estimate(
    guide: Guide, items: Sequence[Item], price_in: float | None = None, price_out: float | None = None
) -> Estimate:
    """Estimate calls, tokens, and the price if prices per million tokens are given."""
    characters = sum(len(message["content"]) for item in items for message in write_messages(guide, item))
    tokens_in, tokens_out = -(-characters // CHARACTERS_PER_TOKEN), ANSWER_TOKENS * len(items)
    known = price_in is not None or price_out is not None
    price = (tokens_in * (price_in or 0.0) + tokens_out * (price_out or 0.0)) / 1e6
    return Estimate(len(items), tokens_in, tokens_out, price if known else None)


def rate_study(
    folder: Path,
    endpoint: Endpoint,
    agree: Callable[[Estimate], bool],
    *,
    price_in: float | None = None,
    price_out: float | None = None,
    watch: Watch = lambda items, _total: items,
) -> tuple[Estimate, Outcome | None]:
    """Estimate the cost of a study's remaining items, and rate them if `agree` returns True.

    Returns:
        The estimate; the outcome, or None if nothing was sent.
    """
    study = open_study(folder)
    with lock_rater(study, name_rater(endpoint)):
        store = RatingStore(study)
        left = list_items_left(study, store, name_rater(endpoint))
        wanted = estimate(study.info.guide, left, price_in, price_out)
        return wanted, rate(study, store, endpoint, watch) if agree(wanted) else None


def rate(
    study: Study, store: RatingStore, endpoint: Endpoint, watch: Watch = lambda items, _total: items
) -> Outcome:
    """Rate every remaining item. Each grade is saved at once, so that a stopped run can continue."""
    rater = name_rater(endpoint)
    left = list_items_left(study, store, rater)
    failed: list[Failure] = []
    unanswered = 0
    for item in watch(left, len(left)):
        try:
            store.save(item.id, rater, _ask_grades(study.info.guide, item, endpoint))
            unanswered = 0
        except (NoAnswer, Unusable) as error:
            failed.append(Failure(item.id, rater, str(error)))
            store.save_failure(failed[-1])
            spent = isinstance(error, NoAnswer) and error.patience_spent
            unanswered = unanswered + 1 if spent else 0
            if unanswered == IN_A_ROW:
                raise RationalizeError(
                    f"{endpoint.url}: {IN_A_ROW} items in a row got no answer. The last error: {error} "
                    "Finished ratings are kept; run the same command again to continue."
                ) from None
    return Outcome(rater, len(left) - len(failed), len(study.items) - len(left), tuple(failed))


def _ask_grades(guide: Guide, item: Item, endpoint: Endpoint) -> Grades:
    """Get the grades of an item; after an unusable answer, explain the problem and ask once more."""
    messages = write_messages(guide, item)
    answer = endpoint.ask(messages)
    try:
        return read_grades(guide, answer)
    except Unusable as first:
        answer = endpoint.ask(ask_again(guide, messages, answer, str(first)))
    return read_grades(guide, answer)
