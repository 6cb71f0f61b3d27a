"""Bring the various shapes of Argilla's records into one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rationalize.data.annotation._tasks import UNNAMED
from rationalize.data.annotation._values import as_list
from rationalize.data.findings import FileRow, shorten
from rationalize.files import JsonObject

_FLAT = ".responses"
_OWN = ("id", "status", "_server_id", "score", "external_id")


@dataclass(frozen=True, slots=True)
class ArgillaResponse:
    """One person's answer to one question."""

    question: str
    value: Any
    user: str
    status: str | None
    place: str


def nest(record: JsonObject) -> JsonObject:
    """Nest a flattened record (`label.responses`, `label.responses.users` …); return a nested one unchanged."""
    if isinstance(record.get("fields"), dict) or not any("." in name for name in record):
        return record
    questions = [name.removesuffix(_FLAT) for name in record if name.endswith(_FLAT)]
    plain = {name: value for name, value in record.items() if "." not in name and name not in _OWN}
    nested: JsonObject = {name: record[name] for name in _OWN if name in record}
    nested |= {"fields": plain, "metadata": plain, "responses": {}}
    for question in questions:
        users = as_list(record.get(f"{question}{_FLAT}.users"))
        states = as_list(record.get(f"{question}{_FLAT}.status"))
        nested["responses"][question] = [
            {
                "value": value,
                "user_id": users[index] if index < len(users) else None,
                "status": states[index] if index < len(states) else None,
            }
            for index, value in enumerate(as_list(record[f"{question}{_FLAT}"]))
        ]
    return nested


def list_responses(row: FileRow) -> list[ArgillaResponse]:
    """Return every answer of a record, whichever way they are grouped: by question, or (older) by person."""
    given = row.values.get("responses") or {}
    if isinstance(given, dict):
        return list(_by_question(row, given))
    if isinstance(given, list):
        return list(_by_person(row, given))
    row.error(
        "wrong type", "responses", seen=shorten(given), expected="an object with an entry for each question"
    )
    return []


def _by_question(row: FileRow, given: Mapping[str, Any]) -> Iterator[ArgillaResponse]:
    for question, answers in given.items():
        for index, answer in enumerate(answers if isinstance(answers, list) else [answers]):
            place = f"responses.{question}[{index}]"
            if isinstance(answer, dict) and "value" in answer:
                if answer["value"] is not None:
                    yield _response(question, answer["value"], answer, f"{place}.value")
            else:
                row.error("wrong type", place, seen=shorten(answer), expected='{"value": …, "user_id": …}')


def _by_person(row: FileRow, given: list[Any]) -> Iterator[ArgillaResponse]:
    for index, answer in enumerate(given):
        values = answer.get("values") if isinstance(answer, dict) else None
        if not isinstance(values, dict):
            expected = '{"values": {question: {"value": …}}, "user_id": …}'
            row.error("wrong type", f"responses[{index}]", seen=shorten(answer), expected=expected)
            continue
        for question, inner in values.items():
            if isinstance(inner, dict) and inner.get("value") is not None:
                place = f"responses[{index}].values.{question}.value"
                yield _response(question, inner["value"], answer, place)


def _response(question: str, value: Any, answer: Mapping[str, Any], place: str) -> ArgillaResponse:
    user, status = answer.get("user_id"), answer.get("status")
    return ArgillaResponse(question, value, UNNAMED if user is None else str(user), status, place)
