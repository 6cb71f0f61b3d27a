"""Sentences from rewriting rules: `{slot}` gives way to one of its fillers, `[ … ]` marks a phrase."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

import yaml

RULE_FILES = ("neutral.yaml", "opinions.yaml", "shortcuts.yaml")

SLOT = re.compile(r"\{(\w+)\}")
_SOUNDS_LIKE_VOWEL = re.compile(r"honest|[aeiou]")

Rules = dict[str, tuple[str, ...]]


@cache
def load_rules() -> Rules:
    """Load every slot with its fillers. A slot with tones has one entry per tone, `slot.tone`."""
    folder = resources.files(__package__)
    texts = [folder.joinpath(name).read_text(encoding="utf-8") for name in RULE_FILES]
    return {slot: tuple(fillers) for text in texts for slot, fillers in yaml.safe_load(text).items()}


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words of a sentence, and which of them the grammar marked, end-exclusive."""

    words: tuple[str, ...]
    marked: tuple[int, int] | None = None


@dataclass(slots=True)
class Writer:
    """Writes the sentences of one document; it repeats a filler only when no other is left."""

    rng: random.Random
    used: set[str] = field(default_factory=set)

    def sentence(self, slot: str, tone: str = "") -> Sentence:
        """Write a sentence of one kind, in one tone."""
        words = self._expand(f"{{{slot}}}", tone).split()
        marked = None
        if "[" in words:
            marked = (words.index("["), words.index("]") - 1)
        plain = [word for word in words if word not in "[]"]
        return Sentence(tuple(_fix_articles(plain)), marked)

    def _expand(self, template: str, tone: str) -> str:
        return SLOT.sub(lambda match: self._expand(self._filler(match[1], tone), tone), template)

    def _filler(self, slot: str, tone: str) -> str:
        fillers = load_rules().get(f"{slot}.{tone}") or load_rules()[slot]
        filler = self.rng.choice([one for one in fillers if one not in self.used] or fillers)
        self.used.add(filler)
        return filler


def _fix_articles(words: list[str]) -> list[str]:
    pairs = zip(words, [*words[1:], ""])
    return ["an" if word == "a" and _SOUNDS_LIKE_VOWEL.match(after) else word for word, after in pairs]
