"""Schemas of requests and answers: requests are checked, and /openapi.json shows both."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from rationalize.serving._answer_examples import EXPLAINED, PREDICTED, REFUSED
from rationalize.serving.api_problem import ApiProblem
from rationalize.serving.serve_settings import ServeLimits
from rationalize.types import Example

TEXT = "a truly gripping story . it was shot in color ."
CALLS: list[JsonValue] = [
    {"text": TEXT},
    {"text": TEXT, "query": "is it a good film ?", "model": "movies"},
    {"texts": [TEXT, "wooden acting all over ."], "truncate": True},
]


class TextsCall(BaseModel):
    """One text with its query, or several. /v1/models shows the limits."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, json_schema_extra={"examples": CALLS})

    text: Annotated[str | None, Field(description="The text; or give texts.")] = None
    query: Annotated[str | None, Field(description="The question or claim about the text.")] = None
    texts: Annotated[list[str] | None, Field(description="Several texts; or give text.")] = None
    queries: Annotated[list[str | None] | None, Field(description="One query per text, in order.")] = None
    model: Annotated[str | None, Field(description="Which model; may be left out if there is only one.")] = (
        None
    )
    truncate: Annotated[bool, Field(description="Read only what fits the encoder, not the whole text.")] = (
        False
    )

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        if (self.text is None) == (self.texts is None):
            raise ValueError("text and texts are both given or both missing. Expected one of them")
        if self.query is not None and self.text is None:
            raise ValueError("query is given with texts. Expected queries, one per text")
        if self.queries is not None and (self.texts is None or len(self.queries) != len(self.texts)):
            raise ValueError("queries do not match the texts. Expected one query per text, in order")
        return self

    def to_examples(self, limits: ServeLimits) -> list[Example]:
        """Check the limits and convert the texts to examples, numbered from 0."""
        texts = [self.text] if self.text is not None else self.texts or []
        queries = self.queries or [self.query] * len(texts)
        if not 0 < len(texts) <= limits.call_texts:
            expected = f"1 to {limits.call_texts} texts (call_texts)"
            raise ApiProblem(422, f"{len(texts)} texts", where="texts", expected=expected)
        for index, (text, query) in enumerate(zip(texts, queries, strict=True)):
            alone = self.text is not None
            _check_text(text, "text" if alone else f"texts[{index}]", limits)
            _check_text(query or "", "query" if alone else f"queries[{index}]", limits)
        return [
            Example(str(index), text, query=query)
            for index, (text, query) in enumerate(zip(texts, queries, strict=True))
        ]


def _check_text(value: str, where: str, limits: ServeLimits) -> None:
    if len(value) > limits.text_chars:
        expected = f"at most {limits.text_chars} characters (text_chars)"
        raise ApiProblem(422, f"{len(value)} characters", where=where, expected=expected)
    try:
        value.encode()
    except UnicodeEncodeError as error:  # JSON can escape one half of a surrogate pair without the other
        what = f"half a character at {error.start}"
        raise ApiProblem(422, what, where=where, expected="whole Unicode characters") from None


class ExplanationShape(BaseModel):
    """A label and the words that support it, as `rationalize explain --json` prints it. Offsets count characters."""

    text: str
    label: str
    probabilities: dict[str, float]
    spans: list[tuple[int, int]]
    words: list[tuple[int, int]]
    scores: list[float]
    selected: list[bool]
    faithful: bool
    method: str
    query: str | None
    from_full_text: dict[str, float] | None
    from_rationale: dict[str, float] | None
    cut_off: tuple[int, int] | None
    id: str | None
    oracle_label: bool
    confidence: float | None
    rationale: list[str]
    review: bool | None


class ExplainAnswer(BaseModel):
    """Explanations, in the order of the texts."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXPLAINED]})

    model: str
    explanations: list[ExplanationShape]


class PredictionShape(BaseModel):
    """A label without a rationale."""

    id: str
    label: str
    probabilities: dict[str, float]
    confidence: float


class PredictAnswer(BaseModel):
    """Predictions, in the order of the texts."""

    model_config = ConfigDict(json_schema_extra={"examples": [PREDICTED]})

    model: str
    predictions: list[PredictionShape]


class ModelShape(BaseModel):
    """A served model; its facts are known once it is ready."""

    name: str
    state: Literal["loading", "ready", "failed"]
    why: str | None
    method: str | None = None
    faithful: bool | None = None
    labels: list[str] | None = None
    encoder: str | None = None
    max_tokens: int | None = None
    reads_query: bool | None = None
    package_version: str | None = None
    temperature: float | None = None
    min_confidence: dict[str, float] | None = None


class ModelsAnswer(BaseModel):
    """The models, and the limits of a request."""

    version: str
    models: list[ModelShape]
    limits: ServeLimits


class ProblemShape(BaseModel):
    """What is wrong, where, and what was expected."""

    what: str
    where: str
    expected: str
    others: list[ProblemShape] | None = None
    retry_after: int | None = None


class ErrorAnswer(BaseModel):
    """The answer to a refused request."""

    model_config = ConfigDict(json_schema_extra={"examples": [REFUSED]})

    error: ProblemShape
