"""Figures that the SSR paper reports, for comparison with ours."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from rationalize.comparison._cell_result import CellFacts
from rationalize.comparison.cells import PAPER_GOLD_SHARE
from rationalize.methods.registry import method_class
from rationalize.reporting.wording import MeanValue

TITLES = {
    "un_rat": "Vanilla Un-RAT",
    "ib": "IB",
    "invrat": "INVRAT",
    "inter_rat": "Inter-RAT",
    "mcd": "MCD",
    "car": "CAR",
    "three_player": "3Player",
    "semi_rat": "Vanilla Semi-RAT",
    "ib_semi": "IB (25% rationales)",
    "wsee": "WSEE",
    "st_rat": "ST-RAT",
    "sup_rat": "Vanilla Sup-RAT",
    "pipeline": "Pipeline",
    "unirex": "UNIREX",
    "at_bmc": "AT-BMC",
    "ssr_unif": "SSR_unif",
    "ssr_virt": "SSR_virt",
}
LEARNED_FROM = "movies"
COPIED = ("ib", "ib_semi", "pipeline", "st_rat")
NOTE = "Reported: figures of the SSR paper; its token F1 is micro over the word pieces of truncated texts."
COPIED_NOTE = (
    "The reported figures of IB, Pipeline and ST-RAT come from papers with other units (sentences), windows, "
    "gold splits and definitions of F1: not comparable with the other rows."
)


def find_reported(about: CellFacts, data: str, split: str) -> dict[str, MeanValue] | None:
    """Find the paper's figures for a cell, by metric, with their spread if printed; None: no figures."""
    title = TITLES.get(about.method)
    share_fits = about.supervision != "part" or about.gold_share == PAPER_GOLD_SHARE
    as_in_paper = about.name == about.method and share_fits
    if title is None or not as_in_paper:
        return None
    if about.uniform_weight != method_class(about.method).about.uniform_weight:
        return None
    if split == "test":
        return _find_in_domain(title, about.augment, data) or None
    return (_find_out_of_domain(title, about.augment, split) or None) if data == LEARNED_FROM else None


def _find_in_domain(title: str, augment: str, data: str) -> dict[str, MeanValue]:
    figures = _look_up(
        "main_with_more_baselines", title if augment == "none" else f"{title} +{augment} DA", data
    )
    if figures is None and augment in {"random", "semantic"}:
        figures = _look_up(f"{augment}_augmentation_on_every_method", title, data)
    names = {"task": "task_f1_weighted", "token_f1": "token_f1_micro_piece"}
    return {names[name]: _to_share(pair) for name, pair in (figures or {}).items() if pair}


def _find_out_of_domain(title: str, augment: str, split: str) -> dict[str, MeanValue]:
    """Find the figures of a model trained on Movies, on another data set."""
    title = title if augment == "none" else f"{title} +{augment} DA"
    task = _look_up("generalization_from_movies", title, split)
    rest = _look_up("faithfulness_trained_on_movies", title, split) or {}
    found = {"task_f1_weighted": _to_share(task)} if task else {}
    return found | {name: MeanValue(value) for name, value in rest.items()}


def _look_up(table: str, method: str, data: str) -> Any:
    """Look up one cell of a table of the paper; None if missing."""
    return next((row.get(data) for row in _read_tables()[table] if row["method"] == method), None)


def _to_share(pair: list[float]) -> MeanValue:
    return MeanValue(pair[0] / 100, pair[1] / 100)


@cache
def _read_tables() -> Any:
    path = resources.files("rationalize.comparison") / "paper_tables.json"
    return json.loads(path.read_text(encoding="utf-8"))["tables"]
