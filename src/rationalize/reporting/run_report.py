"""The report of one model on one split: numbers, training, examples, and its worst mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rationalize.reporting.metric_table import Results
from rationalize.reporting.report import ExampleView, Report
from rationalize.training.loop import read_epochs
from rationalize.types import Example, Explanation

SHOWN = 8


def run_report(
    folder: Path, results: Results, pairs: Sequence[tuple[Example, Explanation]], command: str
) -> Report:
    """What there is to tell; curves and settings only where the folder is that of a run.

    Args:
        folder: A run folder, or the model folder inside it.
        results: Of the split.
        pairs: Its examples as explained by the model.
        command: That made it.
    """
    run = folder if (folder / "run.json").is_file() else folder.parent
    name = str(results["method"])
    config, epochs = run / "config.resolved.yaml", read_epochs(run)
    return Report(
        title=f"{name} on {results['split']}",
        summary=f"{results['n_examples']} examples of {results['split']}, explained by {name}.",
        results={name: results},
        curves={name: epochs} if epochs else {},
        examples=[_view(name, *pair) for pair in pairs[:SHOWN]],
        mistakes=[_view(name, *pair) for pair in worst_mistakes(pairs)],
        config=config.read_text(encoding="utf-8") if config.is_file() else "",
        commands=[command],
    )


def worst_mistakes(
    pairs: Sequence[tuple[Example, Explanation]], n: int = SHOWN
) -> list[tuple[Example, Explanation]]:
    """The wrong labels that the model was surest of, the surest first."""
    wrong = [(e, said) for e, said in pairs if e.label is not None and said.label != e.label]
    return sorted(wrong, key=lambda pair: -pair[1].probabilities[pair[1].label])[:n]


def _view(name: str, example: Example, explanation: Explanation) -> ExampleView:
    return ExampleView(example, {name: explanation})
