"""What annotation gains: scores against the share of gold rationales, or of augmented copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rationalize.comparison._cell_result import CellFacts, CellResult
from rationalize.comparison._summary import get_metric, summarize_values
from rationalize.reporting.plots import draw_chart, draw_chart_svg

SCORES = {
    "task_f1_weighted": "task F1",
    "token_f1_eraser": "token F1 (ERASER)",
    "shortcut_share": "shortcut words of the selected",
    "ood_task_f1_weighted": "task F1 out of domain",
}
FACTORS = {
    "gold_share": "gold rationales, % of the training examples",
    "augment_share": "augmented copies, %",
}


@dataclass(frozen=True)
class Curve:
    """One score of several methods against one share, on one data set.

    Attributes:
        name: Name of its file.
        title: What y is.
        x_title: What x is.
        points: By method: (share in percent, mean).
        spreads: By method: standard deviations over seeds.
    """

    name: str
    title: str
    x_title: str
    points: Mapping[str, Sequence[tuple[float, float | None]]]
    spreads: Mapping[str, Sequence[float | None]]

    def to_html(self) -> Markup:
        """Draw the curve for a report."""
        return draw_chart(self.points, title=self.title, x_title=self.x_title, spreads=self.spreads)

    def to_svg(self) -> str:
        """Draw the curve as a standalone SVG file."""
        return draw_chart_svg(self.points, title=self.title, x_title=self.x_title, spreads=self.spreads)


def draw_curves(cells: Sequence[CellResult], split: str = "test") -> list[Curve]:
    """Make a curve for every varying share, data set and score; methods without that share are level lines."""
    found = []
    scored = [each for each in cells if split in each.results]
    for data in dict.fromkeys(each.cell.data for each in scored):
        own = [each for each in scored if each.cell.data == data]
        for factor, x_title in FACTORS.items():
            for metric, title in SCORES.items():
                drawn = _group_series(own, split, factor, metric)
                if drawn is not None:
                    name = f"{data}-{factor}-{metric}"
                    found.append(Curve(name, f"{data}, {split}: {title}, %", x_title, *drawn))
    return found


def _group_series(
    cells: Sequence[CellResult], split: str, factor: str, metric: str
) -> tuple[dict[str, list[tuple[float, float | None]]], dict[str, list[float | None]]] | None:
    grouped: dict[str, dict[float | None, list[float | None]]] = {}
    for each in cells:
        about = each.cell
        name = about.name if about.augment == "none" else f"{about.name} + {about.augment} DA"
        value = get_metric(each, split, metric)
        grouped.setdefault(name, {}).setdefault(_find_share(about, factor), []).append(value)
    shares = sorted({share for group in grouped.values() for share in group if share is not None})
    if len(shares) < 2:
        return None
    points: dict[str, list[tuple[float, float | None]]] = {}
    spreads: dict[str, list[float | None]] = {}
    for name, group in grouped.items():
        # A method without this share is a level line from end to end.
        by_share = dict.fromkeys((shares[0], shares[-1]), group[None]) if None in group else group
        means = {share: summarize_values(values) for share, values in by_share.items()}
        order = sorted(share for share in means if share is not None)
        drawn = [(100 * share, means[share]) for share in order]
        if any(mean for _, mean in drawn):
            points[name] = [(share, mean.mean if mean else None) for share, mean in drawn]
            spreads[name] = [mean.sd if mean else None for _, mean in drawn]
    return (points, spreads) if points else None


def _find_share(about: CellFacts, factor: str) -> float | None:
    """Return the cell's share, or None if its method has none."""
    if factor == "gold_share":
        return about.gold_share if about.supervision == "part" else None
    return about.augment_share if about.augment != "none" else None
