"""The settings of an audit."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rationalize.config import Device, Share
from rationalize.shortcuts.phrase_rules import Count, PhraseRules


class AuditConfig(PhraseRules):
    """Settings of an audit."""

    min_gain: Share = 0.05
    """A column is suspected if it guesses the label of this share of documents more than the commonest label does."""
    folds: Annotated[int, Field(ge=2)] = 5
    """Number of cross-validation folds."""
    sample: Count = 200
    """Number of documents in which to replace phrases."""
    semantic: bool = True
    """Also replace by words near in meaning; this needs an encoder."""
    contexts: Count = 3
    """Number of examples shown per phrase."""
    evidence: Annotated[int, Field(ge=0)] = 10
    """Number of associated phrases to list that are probably evidence."""
    words: Annotated[int, Field(ge=0)] = 20
    """Number of associated single words to list."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Decides folds, samples and replacements."""
    probe_documents: Count = 25_000
    """Most documents that the label is predicted on, from phrases and from words; of more, a sample."""
    memory_documents: Count = 50_000
    """Most documents that are held in memory; more are worked through from disk, in a temporary folder."""
    workers: Count = 1
    """Processes that work through what is on disk."""
    device: Device = "auto"
    """Where the encoder runs that finds words near in meaning."""
