"""Explain more texts than memory holds: part by part, in several processes, and on from where it stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.corpus.corpus_settings import CorpusOutcome as CorpusOutcome
    from rationalize.corpus.corpus_settings import CorpusSettings as CorpusSettings
    from rationalize.corpus.explain_corpus import explain_all as explain_all

_HOMES = {
    "CorpusOutcome": "corpus_settings",
    "CorpusSettings": "corpus_settings",
    "explain_all": "explain_corpus",
}
__all__ = ["CorpusOutcome", "CorpusSettings", "explain_all"]
__getattr__ = open_room(__name__, _HOMES)
