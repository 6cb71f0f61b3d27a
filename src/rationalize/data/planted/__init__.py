"""Known shortcuts: the planted corpus, written by a grammar, and shortcuts that are put into real text."""

from __future__ import annotations

from rationalize.data.planted.corpus import build_corpus, make_corpus
from rationalize.data.planted.plant_config import PlantConfig, ShortcutPlan
from rationalize.data.planted.planted_config import PlantedConfig
from rationalize.data.planted.planted_statistics import summarize
from rationalize.data.planted.planting import plant, plant_data

__all__ = [
    "PlantConfig",
    "PlantedConfig",
    "ShortcutPlan",
    "build_corpus",
    "make_corpus",
    "plant",
    "plant_data",
    "summarize",
]
