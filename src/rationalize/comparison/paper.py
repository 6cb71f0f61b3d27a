"""What the SSR paper reports, to stand beside our own figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from rationalize.methods.registry import method_class

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
GOLD_SHARE = 0.25
LEARNED_FROM = "movies"
COPIED = ("ib", "ib_semi", "pipeline", "st_rat")
NOTE = "Reported: figures of the SSR paper; its token F1 is micro over the word pieces of truncated texts."
COPIED_NOTE = (
    "The reported figures of IB, Pipeline and ST-RAT come from papers with other units (sentences), windows, "
    "gold splits and definitions of F1: not comparable with the other rows."
)


def find_reported(about: Mapping[str, Any], data: str, split: str) -> dict[str, dict[str, float]] | None:
    """What the paper has of a cell by name of the metric, as mean and, where told, spread, in shares; None: nothing."""
    title = TITLES.get(about["method"])
    share_fits = about["supervision"] != "part" or about["gold_share"] == GOLD_SHARE
    as_in_paper = about["name"] == about["method"] and share_fits
    if title is None or not as_in_paper:
        return None
    if about["uniform_weight"] != method_class(about["method"]).about.uniform_weight:
        return None
    if split == "test":
        return _on_its_own_data(title, about["augment"], data) or None
    return (_elsewhere(title, about["augment"], split) or None) if data == LEARNED_FROM else None


def _on_its_own_data(title: str, augment: str, data: str) -> dict[str, dict[str, float]]:
    row = _row("main_with_more_baselines", title if augment == "none" else f"{title} +{augment} DA").get(data)
    if row is None and augment in {"random", "semantic"}:
        row = _row(f"{augment}_augmentation_on_every_method", title).get(data)
    names = {"task": "task_f1_weighted", "token_f1": "token_f1_micro_piece"}
    return {names[name]: _share(pair) for name, pair in (row or {}).items() if pair}


def _elsewhere(title: str, augment: str, split: str) -> dict[str, dict[str, float]]:
    """Of a model that learned from Movies, on another data set."""
    title = title if augment == "none" else f"{title} +{augment} DA"
    task = _row("generalization_from_movies", title).get(split)
    rest = _row("faithfulness_trained_on_movies", title).get(split) or {}
    found = {"task_f1_weighted": _share(task)} if task else {}
    return found | {name: {"mean": value} for name, value in rest.items()}


def _row(table: str, method: str) -> dict[str, Any]:
    found: dict[str, Any] = next((row for row in _tables()[table] if row["method"] == method), {})
    return found


def _share(pair: list[float]) -> dict[str, float]:
    return {"mean": pair[0] / 100, "sd": pair[1] / 100}


@cache
def _tables() -> dict[str, Any]:
    path = resources.files("rationalize.comparison") / "paper_tables.json"
    tables: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["tables"]
    return tables
