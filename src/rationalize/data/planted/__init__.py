"""The planted corpus: reviews written by a grammar, with known evidence and a known shortcut."""

from __future__ import annotations

from rationalize.data.planted.corpus import build_corpus, make_corpus
from rationalize.data.planted.planted_config import PlantedConfig
from rationalize.data.planted.planted_statistics import summarize

__all__ = ["PlantedConfig", "build_corpus", "make_corpus", "summarize"]
