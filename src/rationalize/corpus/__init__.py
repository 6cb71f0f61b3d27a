"""Explain more texts than memory holds: part by part, in several processes, and on from where it stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.corpus.explain_corpus import CorpusOutcome as CorpusOutcome
    from rationalize.corpus.explain_corpus import CorpusSettings as CorpusSettings
    from rationalize.corpus.explain_corpus import explain_all as explain_all

_HOMES = {
    "CorpusOutcome": "explain_corpus",
    "CorpusSettings": "explain_corpus",
    "explain_all": "explain_corpus",
}
__all__ = ["CorpusOutcome", "CorpusSettings", "explain_all"]
__getattr__ = open_room(__name__, _HOMES)
