"""One person's session with a study: their order, position and grades."""

from __future__ import annotations

from dataclasses import dataclass

from rationalize.data.fields import is_integer
from rationalize.errors import DataError
from rationalize.ratings.guide import HIGHEST, LOWEST, Grades
from rationalize.ratings.rating_store import RatingStore
from rationalize.ratings.study import Item, Study
from rationalize.seeding import python_random


@dataclass(frozen=True)
class View:
    """The content of a page: an item, or the end.

    Attributes:
        study: The study.
        rater: Who rates.
        done: Number of items with every question answered.
        first_open: Place of the first item that is not done, from 1.
        item: The item; None: the end.
        place: The item's place.
        grades: Its grades so far.
    """

    study: Study
    rater: str
    done: int
    first_open: int | None
    item: Item | None = None
    place: int = 0
    grades: Grades | None = None

    @property
    def total(self) -> int:
        """Number of items."""
        return len(self.study.items)


class Session:
    """A rater's work on a study. Every rater has their own order, the same in every session."""

    def __init__(self, study: Study, store: RatingStore, rater: str) -> None:
        self.study = study
        self.rater = rater
        self._store = store
        self._order = list(study.items)
        python_random(study.info.seed, "order of rater", rater).shuffle(self._order)
        self._ids = {item.id for item in study.items}

    def view(self, place: int | None = None) -> View:
        """Show the item at a place (from 1), or the end."""
        given = self._store.read_grades(self.rater)
        wanted = set(self.study.info.guide.question_ids)
        is_done = [wanted <= given.get(item.id, {}).keys() for item in self._order]
        first_open = is_done.index(False) + 1 if False in is_done else None
        end = View(self.study, self.rater, sum(is_done), first_open)
        if place is None or not 1 <= place <= len(self._order):
            return end
        item = self._order[place - 1]
        return View(self.study, self.rater, end.done, first_open, item, place, given.get(item.id, {}))

    def save(self, item: object, question: object, grade: object) -> int:
        """Save one grade, as a browser sent it; return the number of finished items."""
        if not isinstance(item, str) or item not in self._ids:
            raise DataError(f"item: saw {item!r}, expected one of this study.")
        if not isinstance(question, str) or question not in self.study.info.guide.question_ids:
            raise DataError(f"question: saw {question!r}, expected one of this study.")
        if not is_integer(grade) or not LOWEST <= grade <= HIGHEST:
            raise DataError(f"grade: saw {grade!r}, expected a whole number from {LOWEST} to {HIGHEST}.")
        self._store.save(item, self.rater, {question: grade})
        return self.view().done
