"""The questions for raters, and the meaning of each grade. A study keeps its own copy, so old ratings stay readable."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rationalize.config import Strict

LOWEST, HIGHEST = 1, 5
Grade = Annotated[int, Field(ge=LOWEST, le=HIGHEST, strict=True)]
Grades = dict[str, int]
"""Grades by the id of their question."""


class Question(Strict):
    """One thing to judge."""

    id: str
    title: str
    ask: str
    grades: Annotated[tuple[str, ...], Field(min_length=HIGHEST, max_length=HIGHEST)]
    """The meaning of each grade, the lowest first."""

    def meanings(self) -> list[tuple[int, str]]:
        """List grades with their meanings, the highest first."""
        return [(HIGHEST - index, meaning) for index, meaning in enumerate(reversed(self.grades))]


class Guide(Strict):
    """The instructions for raters."""

    introduction: str
    questions: tuple[Question, ...]

    @property
    def question_ids(self) -> tuple[str, ...]:
        """Ids of the questions, in order."""
        return tuple(question.id for question in self.questions)


GUIDE = Guide(
    introduction=(
        "A program has read a text, given it a label, and marked the words that are meant to explain the label. "
        "Judge the marked words as an explanation of the label that was given, even where you would give another. "
        "Where nothing is marked, every grade is 1."
    ),
    questions=(
        Question(
            id="usefulness",
            title="Usefulness",
            ask="Do the marked words help to see why this label was given?",
            grades=(
                "None of them does.",
                "Few do; nearly all could be left out.",
                "About half of them do.",
                "Most do; some have nothing to do with the label.",
                "All of them do.",
            ),
        ),
        Question(
            id="completeness",
            title="Completeness",
            ask="Are the marked words enough to arrive at this label without the rest of the text?",
            grades=(
                "Nothing that matters is marked.",
                "No; most of what matters is missing.",
                "Half; about as much is missing as is marked.",
                "Nearly; a few words that matter are missing.",
                "Yes; nothing that matters is missing.",
            ),
        ),
        Question(
            id="fluency",
            title="Fluency",
            ask="Do the marked words read well by themselves?",
            grades=(
                "Not at all; scattered words without sense.",
                "Badly; mostly fragments.",
                "In part; phrases and fragments mixed.",
                "Well, with small breaks.",
                "Very well, like whole phrases or sentences.",
            ),
        ),
    ),
)
