"""The words of the planted corpus's grammar, for its tests."""

from __future__ import annotations

from rationalize.data.planted._grammar import SLOT, load_rules


def phrases(example, spans):
    return [example.text[span.start : span.end] for span in spans]


def words_of(*slots):
    """Every word that the slots can give, in any tone."""
    todo, found, words = list(slots), set(), set()
    while todo:
        slot = todo.pop()
        found.add(slot)
        for name, fillers in load_rules().items():
            if name.split(".")[0] == slot or name == slot:
                text = " ".join(fillers)
                words |= set(SLOT.sub(" ", text).split()) - {"[", "]"}
                todo += [inner for inner in SLOT.findall(text) if inner not in found]
    return words


def toned(*tones):
    """The opinion words of some tones."""
    return words_of(*(name for name in load_rules() if name.partition(".")[2] in tones)) & OPINION_WORDS


OPINION_WORDS = words_of("quality", "does")
NEW_WORDS = toned("POS.new", "NEG.new")
SIDES = {label: toned(label, f"{label}.new") for label in ("NEG", "POS")}
