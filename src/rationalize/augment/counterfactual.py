"""Counterfactual augmentation: evidence of any label takes the place of an annotated example's own, and sets its label.

Everything else stays, so it stands beside every label alike: no word, mark or topic outside the evidence can tell the
label of an example from that of its copies. No shortcut has to be known for that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import cycle, islice

from rationalize.data.annotation.merge_people import join_spans
from rationalize.errors import ConfigError
from rationalize.seeding import derive_seed, python_random
from rationalize.text.replace import replace_spans
from rationalize.types import Example

KIND = "counterfactual"
SETTING = f"augment.kind={KIND}"
INSTEAD = "Set augment.kind to random, semantic, mixed or none."


def check_evidence(examples: Iterable[Example]) -> None:
    """Refuse annotated examples whose evidence cannot be exchanged."""
    marked = [example for example in examples if example.rationale]
    if len({example.query for example in marked}) > 1:
        raise ConfigError(
            f"{SETTING}: the examples have queries, and what is evidence for one query is none for another. {INSTEAD}"
        )
    labels = {str(example.label) for example in marked}
    if not labels:
        raise ConfigError(
            f"{SETTING}: no example has gold words to exchange. Raise data.gold_share, or annotate."
        )
    if len(labels) == 1:
        raise ConfigError(
            f"{SETTING} exchanges the evidence of labels: expected gold words of two labels or more, saw only "
            f"{labels.pop()!r}. {INSTEAD}"
        )


def augment_counterfactual(examples: Sequence[Example], n: int, seed: int) -> list[Example]:
    """Make copies of annotated examples in turn; those in which nothing is marked are left out.

    An example and its copies have all labels in turn, so that the rest of the text goes with each equally often.
    """
    turns = sorted(
        (example for example in examples if example.rationale),
        key=lambda each: derive_seed(seed, "counterfactual", each.id),
    )
    phrases: dict[str, list[str]] = defaultdict(list)
    for example in turns:
        evidence = join_spans(example.rationale or ())
        phrases[str(example.label)] += [example.text[span.start : span.end] for span in evidence]
    orders = {example.id: _order_labels(example, list(phrases), seed) for example in turns}
    copies = []
    for place, example in enumerate(islice(cycle(turns), n)):
        order, turn = orders[example.id], place // len(turns)
        copies.append(_exchange_evidence(example, order[turn % len(order)], phrases, turn, seed))
    return copies


def _order_labels(example: Example, labels: Iterable[str], seed: int) -> list[str]:
    own = str(example.label)
    others = sorted(label for label in labels if label != own)
    python_random(seed, "counterfactual labels", example.id).shuffle(others)
    return [*others, own]


def _exchange_evidence(
    example: Example, label: str, phrases: Mapping[str, Sequence[str]], turn: int, seed: int
) -> Example:
    random = python_random(seed, "counterfactual phrases", example.id, turn)
    places = join_spans(example.rationale or ())
    kept = [span for span in example.shortcuts or () if not any(map(span.overlaps, places))]
    source = replace(
        example,
        label=label,
        rationale=tuple(places),
        shortcuts=None if example.shortcuts is None else tuple(kept),
    )
    return replace_spans(source, {place: random.choice(phrases[label]) for place in places}, f"~{KIND}{turn}")
