"""Change words that are not evidence, slightly: typos, other numbers, contractions spelled out."""

from __future__ import annotations

import re
from random import Random

from rationalize.seeding import python_random
from rationalize.text.replace import replace_words
from rationalize.text.words import WordRule, word_mask, word_spans
from rationalize.types import Example

_DIGIT = re.compile("[0-9]")
_IRREGULAR = {"won't": "will not", "can't": "cannot", "shan't": "shall not", "n't": "not"}
_ENDINGS = {"n't": " not", "'re": " are", "'ve": " have", "'ll": " will", "'m": " am"}


def perturb(example: Example, share: float, seed: int, rule: WordRule, copy: int = 0) -> Example:
    """Copy an example with a share of the words outside its rationale changed; the rationale stays the same.

    The seed, the example's id and the number of the copy determine which words change and how. Words that cannot be
    changed (short ones without a digit) are skipped.
    """
    random = python_random(seed, "perturb", example.id, copy)
    words = word_spans(example.text, rule)
    gold = word_mask(words, example.rationale or ())
    free = [index for index in range(len(words)) if not gold[index]]
    random.shuffle(free)
    wanted, new = round(share * len(free)), dict[int, str]()
    for index in free:
        word = example.text[words[index].start : words[index].end]
        changed = perturb_word(word, random)
        if changed != word and len(new) < wanted:
            new[index] = changed
    return replace_words(example, new, f"~perturbed{copy}", rule)


def perturb_word(word: str, random: Random) -> str:
    """Change a digit, spell out a contraction, or swap two inner letters; some words stay as they are."""
    digits = [found.start() for found in _DIGIT.finditer(word)]
    if digits:
        at = random.choice(digits)
        return f"{word[:at]}{(int(word[at]) + random.randrange(1, 10)) % 10}{word[at + 1 :]}"
    return _spell_out(word) or _swap_letters(word, random)


def _spell_out(word: str) -> str | None:
    lower = word.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    ending = next((each for each in _ENDINGS if lower.endswith(each) and lower != each), None)
    return word[: -len(ending)] + _ENDINGS[ending] if ending else None


def _swap_letters(word: str, random: Random) -> str:
    """Swap two different neighboring letters, neither the first nor the last of the word."""
    places = [
        at
        for at in range(1, len(word) - 2)
        if word[at : at + 2].isalpha() and word[at].lower() != word[at + 1].lower()
    ]
    if not places:
        return word
    at = random.choice(places)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
