"""Accept one text, several, or an endless stream wherever texts are expected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, TypeVar

from rationalize.errors import ConfigError, DataError
from rationalize.types import Example

Text = str | Example
Answer = TypeVar("Answer")


def answer(texts: Any, queries: Any, ask: Callable[[Iterable[Example]], Iterator[Answer]]) -> Any:
    """Return one answer for one text, a list for a sized collection, and an iterator otherwise."""
    if isinstance(texts, str | Example):
        return next(ask(to_examples([texts], None if queries is None else [queries])))
    _check(texts, queries)
    answers = ask(to_examples(texts, queries))
    return list(answers) if isinstance(texts, Sized) else answers


def _check(texts: Any, queries: Any) -> None:
    if hasattr(texts, "columns"):
        raise ConfigError("texts: got a table, expected texts. Pass one column, for instance data['text'].")
    if not isinstance(texts, Iterable):
        raise ConfigError(f"texts: expected str, Example or several of them, got {type(texts).__name__}.")
    if isinstance(queries, str):
        raise ConfigError("queries: got one query for several texts. Give one query per text.")
    if isinstance(texts, Sized) and isinstance(queries, Sized) and len(texts) != len(queries):
        raise ConfigError(f"queries: got {len(queries)} for {len(texts)} texts. Give one query per text.")


def to_examples(texts: Iterable[Any], queries: Iterable[str] | None) -> Iterator[Example]:
    """Yield texts as examples, numbered where they have no id."""
    questions = iter(queries) if queries is not None else None
    for index, text in enumerate(texts):
        if isinstance(text, Example):
            if questions is not None:
                raise ConfigError("queries: only plain texts take them; an Example has its own query.")
            yield _check_encodable(text, index)
        elif isinstance(text, str):
            query = None if questions is None else next(questions, None)
            if questions is not None and query is None:
                raise ConfigError(f"queries: text {index} has none. Give one query per text.")
            yield _check_encodable(Example(str(index), str(text), query=query), index)
        else:
            raise ConfigError(f"texts[{index}]: expected str or Example, got {type(text).__name__}.")


def _check_encodable(example: Example, index: int) -> Example:
    for name, text in (("texts", example.text), ("queries", example.query or "")):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise DataError(
                f"{name}[{index}]: half a surrogate pair at character {error.start}. Expected whole characters; "
                "text.encode('utf-8', 'replace').decode() replaces it."
            ) from None
    return example
