"""Use a model on data whose labels have other names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rationalize.data.dataset import list_labels
from rationalize.errors import ConfigError, DataError
from rationalize.types import Example

LabelMap = Mapping[str, str]
"""The data's name for a class → the model's name."""


def map_labels(
    examples: Sequence[Example],
    model_labels: Sequence[str],
    label_map: LabelMap,
    where: str,
    *,
    field: str = "label_map",
) -> Sequence[Example]:
    """Rename the examples' labels to the model's names; unlabeled examples stay unlabeled.

    Args:
        examples: Examples with the data's labels.
        model_labels: The model's classes.
        label_map: The data's label → the model's; equal labels may be left out.
        where: A name for the data, for messages.
        field: The name of the setting that holds the map, for messages.

    Raises:
        DataError: If the model does not know a label, or the map names a label that either side lacks.
    """
    theirs = list_labels(examples)
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
            f"{where}: the model does not know the label(s) {', '.join(unknown)}. {sides} "
            f"If they mean the same, map them: {field}={advice}.",
            field=field,
        )
    return tuple(
        example
        if example.label is None
        else replace(example, label=label_map.get(example.label, example.label))
        for example in examples
    )


def invert_label_map(
    examples: Sequence[Example], model_labels: Sequence[str], label_map: LabelMap, where: str
) -> dict[str, str]:
    """Map the model's labels back to the data's; refuse if two classes would get the same name."""
    theirs = list_labels(examples)
    back = {label_map.get(label, label): label for label in theirs}
    renamed = {back.get(label, label) for label in model_labels}
    if len(back) < len(theirs) or len(renamed) < len(model_labels):
        raise ConfigError(
            f"{where}: label_map does not map the data's labels {', '.join(theirs)} one to one to the model's "
            f"{', '.join(model_labels)}, so predictions cannot be written in the data's own labels. "
            "Leave out eraser_out, or map each label to a different one.",
            field=("label_map", "eraser_out"),
        )
    return back


def _guess(label: str, model_labels: Sequence[str]) -> str:
    """Guess the model's label by a shared beginning, or return a placeholder."""
    folded = label.casefold()
    alike = [
        each
        for each in model_labels
        if folded.startswith(each.casefold()) or each.casefold().startswith(folded)
    ]
    return alike[0] if len(alike) == 1 else "MODEL_LABEL"
