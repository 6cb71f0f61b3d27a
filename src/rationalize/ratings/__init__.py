"""Let people and language models grade rationales: study, page, client, report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.ratings.guide import Guide as Guide
    from rationalize.ratings.guide import Question as Question
    from rationalize.ratings.rating_summary import Summary as Summary
    from rationalize.ratings.rating_summary import summarize_ratings as summarize_ratings
    from rationalize.ratings.study import Study as Study
    from rationalize.ratings.study import open_study as open_study

_HOMES = {
    "Guide": "guide",
    "Question": "guide",
    "Study": "study",
    "Summary": "rating_summary",
    "open_study": "study",
    "summarize_ratings": "rating_summary",
}
__all__ = [
    "Guide",
    "Question",
    "Study",
    "Summary",
    "open_study",
    "summarize_ratings",
]
__getattr__ = open_room(__name__, _HOMES)
