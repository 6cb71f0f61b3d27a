"""Exchange shortcuts between the training texts before anything learns from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rationalize.augment.exchange import exchange_shortcuts
from rationalize.data.dataset import list_labels
from rationalize.files import write_json
from rationalize.runs._workspace import Workspace
from rationalize.runs.training_data import TrainingData
from rationalize.shortcuts.association import associate
from rationalize.shortcuts.finding import Discovered
from rationalize.shortcuts.phrase_rules import PhraseRules, is_associated
from rationalize.shortcuts.phrase_search import suspect
from rationalize.shortcuts.statistics import compare_with_truth, describe_coverage
from rationalize.text.words import WordRule
from rationalize.types import Example

NOTHING = (
    "No fixed phrase goes with a label in the training texts, so that there was nothing to exchange. "
    "`rationalize shortcuts audit` also lists single words and columns."
)


def exchange_data(workspace: Workspace, data: TrainingData) -> TrainingData:
    """Return the data with the shortcuts of the training texts exchanged, if the run wants that.

    It takes seconds and is the same every time, so that it is no artifact; `exchange.json` has what was found.
    """
    if not workspace.config.shortcuts.exchange:
        return data
    known = _restore_known(data)
    if workspace.config.shortcuts.source == "known":
        found = [Discovered(each, each.shortcuts or ()) for each in known]
    else:
        found = suspect(data.train, data.words)
    n = sum(bool(each.shortcuts) for each in found)
    _report(workspace, found, known, data.words)
    if not n:
        return replace(data, warnings=(*data.warnings, NOTHING))
    workspace.display.message(
        f"exchange: shortcuts of {n} of {len(found)} training texts were dealt out anew"
    )
    left = _describe_rest(found)
    train = exchange_shortcuts([each.to_example() for each in found], workspace.config.seed)
    # Offsets of hidden shortcuts are those of the old texts.
    return replace(data, train=tuple(train), hidden_shortcuts={}, warnings=(*data.warnings, *left))


def _describe_rest(found: Sequence[Discovered]) -> list[str]:
    """Describe what an exchange leaves: it changes which shortcut a text has, but not whether it has one."""
    names = list_labels([each.example for each in found])
    labels = np.array([names.index(str(each.example.label)) for each in found])
    marked = np.array([bool(each.shortcuts) for each in found])
    totals, present = (np.bincount(each, minlength=len(names)) for each in (labels, labels[marked]))
    kept = associate(present[None], totals)
    if not is_associated(kept, PhraseRules())[0]:
        return []
    leaning = kept.describe(0, names)
    return [
        f"Shortcuts were exchanged, but having one still tells the label: {100 * leaning.share:.0f} % of the "
        f"{leaning.documents} texts with one are {leaning.label}, of all texts {100 * kept.base[0]:.0f} %. Other "
        "labels hardly have shortcuts to exchange them with; take these words out of the texts if they are no evidence."
    ]


def _restore_known(data: TrainingData) -> list[Example]:
    """Return the training examples with all shortcuts that the data mark, those hidden from training too."""
    hidden = data.hidden_shortcuts
    return [replace(each, shortcuts=each.shortcuts or hidden.get(each.id)) for each in data.train]


def _report(
    workspace: Workspace, found: Sequence[Discovered], known: Sequence[Example], rule: WordRule
) -> None:
    numbers: dict[str, object] = {**describe_coverage(found, rule)}
    if any(each.shortcuts for each in known):
        numbers["against_truth"] = compare_with_truth(found, known, rule)
    write_json(workspace.folder / "exchange.json", numbers)
