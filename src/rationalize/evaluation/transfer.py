"""A model on data that call its classes by other names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rationalize.data.dataset import labels_of
from rationalize.errors import ConfigError, DataError
from rationalize.types import Example

LabelMap = Mapping[str, str]
"""The data's name of a class, and the model's."""


def map_labels(
    examples: Sequence[Example],
    model_labels: Sequence[str],
    label_map: LabelMap,
    where: str,
    *,
    field: str = "label_map",
) -> tuple[Example, ...]:
    """The examples with the model's names for their labels; those without a label stay without.

    Args:
        examples: With labels as the data have them.
        model_labels: The classes of the model.
        label_map: The data's label → the model's; labels that agree need not be named.
        where: The data, in messages.
        field: What the map is called where it was given.

    Raises:
        DataError: If a label is unknown to the model, or the map names one that either side lacks.
    """
    theirs = labels_of(examples)
    sides = f"The data have {', '.join(theirs) or 'none'}; the model has {', '.join(model_labels)}."
    strangers = [name for name in label_map if name not in theirs]
    strangers += [name for name in label_map.values() if name not in model_labels]
    if strangers:
        raise DataError(
            f"{where}: {field} names the unknown label(s) {', '.join(strangers)}. {sides}", field=field
        )
    unknown = [label for label in theirs if label not in label_map and label not in model_labels]
    if unknown:
        advice = {label: _guess(label, model_labels) for label in unknown}
        raise DataError(
            f"{where}: label(s) {', '.join(unknown)} are unknown to the model. {sides} "
            f"If they mean the same, say which is which: {field}={advice}.",
            field=field,
        )
    return tuple(
        example
        if example.label is None
        else replace(example, label=label_map.get(example.label, example.label))
        for example in examples
    )


def names_in_data(
    examples: Sequence[Example], model_labels: Sequence[str], label_map: LabelMap, where: str
) -> dict[str, str]:
    """The way back, from the model's labels to the data's; refused if two classes would get one name."""
    theirs = labels_of(examples)
    back = {label_map.get(label, label): label for label in theirs}
    renamed = {back.get(label, label) for label in model_labels}
    if len(back) < len(theirs) or len(renamed) < len(model_labels):
        raise ConfigError(
            f"{where}: by label_map, the data's labels {', '.join(theirs)} and the model's "
            f"{', '.join(model_labels)} do not go one to one, so predictions cannot be written in the data's "
            "own labels. Leave eraser_out away, or map each label to another one.",
            field=("label_map", "eraser_out"),
        )
    return back


def _guess(label: str, model_labels: Sequence[str]) -> str:
    """The model's label that begins the same, or a placeholder."""
    folded = label.casefold()
    alike = [
        each
        for each in model_labels
        if folded.startswith(each.casefold()) or each.casefold().startswith(folded)
    ]
    return alike[0] if len(alike) == 1 else "MODEL_LABEL"
