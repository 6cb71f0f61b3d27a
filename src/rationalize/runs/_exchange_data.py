"""Exchange shortcuts between the training texts before anything learns from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rationalize.augment.exchange import exchange_shortcuts
from rationalize.files import write_json
from rationalize.runs._workspace import Workspace
from rationalize.runs.training_data import TrainingData
from rationalize.shortcuts.finding import Discovered
from rationalize.shortcuts.phrase_search import suspect
from rationalize.shortcuts.statistics import compare_with_truth, describe_coverage
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
    known = workspace.config.shortcuts.source == "known"
    found = _list_known(data) if known else suspect(data.train, data.words)
    n = sum(bool(each.shortcuts) for each in found)
    _report(workspace, data, found)
    if not n:
        return replace(data, warnings=(*data.warnings, NOTHING))
    workspace.display.message(
        f"exchange: shortcuts of {n} of {len(found)} training texts were dealt out anew"
    )
    train = exchange_shortcuts([each.to_example() for each in found], workspace.config.seed)
    return replace(data, train=tuple(train), hidden_shortcuts={})  # their offsets are those of the old texts


def _list_known(data: TrainingData) -> list[Discovered]:
    return [
        Discovered(each, each.shortcuts or data.hidden_shortcuts.get(each.id) or ()) for each in data.train
    ]


def _report(workspace: Workspace, data: TrainingData, found: Sequence[Discovered]) -> None:
    numbers: dict[str, object] = {**describe_coverage(found, data.words)}
    truth = [_restore_truth(data, each.example) for each in found]
    if any(each.shortcuts for each in truth):
        numbers["against_truth"] = compare_with_truth(found, truth, data.words)
    workspace.folder.mkdir(parents=True, exist_ok=True)
    write_json(workspace.folder / "exchange.json", numbers)


def _restore_truth(data: TrainingData, example: Example) -> Example:
    return replace(example, shortcuts=example.shortcuts or data.hidden_shortcuts.get(example.id))
