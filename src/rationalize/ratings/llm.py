"""A language model goes through a study: what it will cost, and the rating itself, item by item and resumable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rationalize.errors import RationalizeError
from rationalize.ratings.endpoint import Endpoint, NoAnswer
from rationalize.ratings.guide import Grades, Guide
from rationalize.ratings.prompt import Unusable, ask_again, grades_in, messages_for
from rationalize.ratings.rating_store import LLM, Failure, RatingStore
from rationalize.ratings.study import Item, Study

CHARACTERS_PER_TOKEN = 4
ANSWER_TOKENS = 30
IN_A_ROW = 3  # items without an answer after which the endpoint is taken to be out of order

Watch = Callable[[Iterable[Item], int], Iterable[Item]]


@dataclass(frozen=True, slots=True)
class Estimate:
    """Roughly what rating will take, if every answer is usable at once."""

    calls: int
    tokens_in: int
    tokens_out: int
    price: float | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the rating went."""

    rater: str
    rated: int
    skipped: int
    failed: tuple[Failure, ...]


def rater_name(endpoint: Endpoint) -> str:
    """The name under which a language model's ratings are kept; at another temperature it is another rater."""
    warmth = {0.0: "", None: " (its own temperature)"}
    return (
        f"{LLM}{endpoint.model}{warmth.get(endpoint.temperature, f' (temperature {endpoint.temperature})')}"
    )


def items_left(study: Study, store: RatingStore, rater: str) -> list[Item]:
    """Items that the rater has not given every grade to; those that failed come last, lest they block the others."""
    wanted = set(study.info.guide.question_ids)
    given = store.grades_by(rater)
    failed = {failure.item for failure in store.failures() if failure.rater == rater}
    left = [item for item in study.items if not wanted <= given.get(item.id, {}).keys()]
    return sorted(left, key=lambda item: item.id in failed)


def estimate(
    guide: Guide, items: Sequence[Item], price_in: float | None = None, price_out: float | None = None
) -> Estimate:
    """Calls, tokens, and the price if prices per million tokens are given."""
    characters = sum(len(message["content"]) for item in items for message in messages_for(guide, item))
    tokens_in, tokens_out = -(-characters // CHARACTERS_PER_TOKEN), ANSWER_TOKENS * len(items)
    known = price_in is not None or price_out is not None
    price = (tokens_in * (price_in or 0.0) + tokens_out * (price_out or 0.0)) / 1e6
    return Estimate(len(items), tokens_in, tokens_out, price if known else None)


def rate(
    study: Study, store: RatingStore, endpoint: Endpoint, watch: Watch = lambda items, _total: items
) -> Outcome:
    """Rate every item that is left. Each is kept as soon as it is rated, so a stopped run goes on where it was."""
    rater = rater_name(endpoint)
    left = items_left(study, store, rater)
    failed: list[Failure] = []
    unanswered = 0
    for item in watch(left, len(left)):
        try:
            store.save(item.id, rater, _grades(study.info.guide, item, endpoint))
            unanswered = 0
        except (NoAnswer, Unusable) as error:
            failed.append(Failure(item.id, rater, str(error)))
            store.fail(failed[-1])
            spent = isinstance(error, NoAnswer) and error.patience_spent
            unanswered = unanswered + 1 if spent else 0
            if unanswered == IN_A_ROW:
                raise RationalizeError(
                    f"{endpoint.url}: {IN_A_ROW} items in a row got no answer; the last time {error} What was rated "
                    "is kept; run the same command again to go on."
                ) from None
    return Outcome(rater, len(left) - len(failed), len(study.items) - len(left), tuple(failed))


def _grades(guide: Guide, item: Item, endpoint: Endpoint) -> Grades:
    """The grades of an item; after an unusable answer the model is shown why, once."""
    messages = messages_for(guide, item)
    answer = endpoint.ask(messages)
    try:
        return grades_in(guide, answer)
    except Unusable as first:
        answer = endpoint.ask(ask_again(guide, messages, answer, str(first)))
    return grades_in(guide, answer)
