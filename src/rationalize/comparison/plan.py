"""The plan of a comparison: a YAML file and changes to it, over a preset."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from rationalize.config import Augmentation, ReadingConfig, Settings, Share, Strict, validate
from rationalize.errors import ConfigError
from rationalize.files import JsonObject
from rationalize.work.resources import Resources
from rationalize.yaml_text import read_yaml_file

Several = Field(min_length=1)


class Entry(Strict):
    """A method under its own name, with its own settings."""

    name: str
    method: str
    set: Settings = Field(default_factory=dict)
    augment: Annotated[tuple[Augmentation, ...], Several] | None = None
    """Replaces the plan's `augment`; also works for a method that reads no gold rationales."""


class Transfer(ReadingConfig):
    """Another data set to score models on without training on it, and how to read it."""

    path: str
    split: str = "test"
    learned_from: str | None = None
    """Name of the data set whose models are scored; None: all."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Its label → the models' label; equal labels may be left out."""
    limit: Annotated[int, Field(gt=0)] | None = None
    """Score at most this many examples (a stratified sample); None: as `score_limit`."""


class Plan(Strict):
    """Methods × data sets × seeds × gold shares × augmentations."""

    methods: Annotated[list[str | Entry], Several]
    data: Annotated[dict[str, str], Several]
    """Paths by name; the path `planted` is the planted corpus of the cell's seed."""
    seeds: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Several] = (0,)
    gold_shares: tuple[Share, ...] = ()
    """For methods that learn from a part of the gold rationales; empty: as set."""
    augment: Annotated[tuple[Augmentation, ...], Several] = ("none",)
    """For methods that read gold rationales; unless it is set, `none`, or a method's own."""
    augment_shares: tuple[Share, ...] = ()
    """Augmented copies as a share of the training examples; empty: as set."""
    preset: str | None = None
    set: Settings = Field(default_factory=dict)
    baseline: str | None = None
    """Name of the method to test the others against, at the same gold share if possible; None: the first."""
    splits: Annotated[list[str], Several] | None = None
    """Splits to score; None: test, and ood if present."""
    score_limit: Annotated[int, Field(gt=0)] | None = None
    """Score at most this many examples of a split (a stratified sample, the same for all)."""
    transfer: dict[str, Transfer] = Field(default_factory=dict)
    """Other data sets by name; scored like splits."""
    faithfulness: Literal["none", "drop", "mask"] = "none"
    """Also measure comprehensiveness and sufficiency, by deleting or masking words; about 12 times the cost."""
    faithfulness_limit: Annotated[int, Field(gt=0)] | None = None
    """Measure these on at most this many of a split's scored examples (a stratified sample, the same for all)."""
    truncate: bool = False
    """Read only what fits the encoder, as the papers do."""
    resources: Resources = Resources()
    """What a cell asks of a cluster; on this machine it is not asked for."""

    @property
    def entries(self) -> list[Entry]:
        """All methods, each under its name."""
        return [each if isinstance(each, Entry) else Entry(name=each, method=each) for each in self.methods]


def load_plan(path: Path | None, changes: Mapping[str, Any]) -> Plan:
    """Read a plan; changes replace its lists and add to its settings.

    Names alone choose some of the plan's methods or data sets, with their settings.
    """
    values = read_yaml_file(path) if path else {}
    given = {name: value for name, value in changes.items() if value not in (None, [], {})}
    if "set" in given:
        given["set"] = {**(values.get("set") or {}), **given["set"]}
    if path is None and not (given.get("methods") and given.get("data")):
        raise ConfigError("nothing to compare. Give a plan, or methods and data.", field=("methods", "data"))
    plan: Plan = validate(Plan, _narrow(values, given), str(path or "plan"))
    names = [entry.name for entry in plan.entries]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(
            f"methods: given more than once: {', '.join(twice)}. Give each its own name.",
            field="methods",
        )
    for name, other in plan.transfer.items():
        if other.learned_from is not None and other.learned_from not in plan.data:
            raise ConfigError(
                f"transfer {name}: learned_from {other.learned_from!r} is not compared. Data: {', '.join(plan.data)}."
            )
    if plan.baseline is not None and plan.baseline not in names:
        raise ConfigError(
            f"baseline {plan.baseline!r} is not a compared method. Expected one of: {', '.join(names)}.",
            field="baseline",
        )
    return plan


def _narrow(values: JsonObject, given: JsonObject) -> JsonObject:
    """Merge the changes into the plan, and drop what belongs to unchosen methods and data sets."""
    merged = {**values, **given}
    if "methods" in given and isinstance(values.get("methods"), list):
        own = {
            str(each["name"]): each for each in values["methods"] if isinstance(each, dict) and "name" in each
        }
        merged["methods"] = [own.get(name, name) for name in given["methods"]]
        listed = [*own, *values["methods"]]
        if merged.get("baseline") in listed and merged["baseline"] not in given["methods"]:
            merged["baseline"] = given.get("baseline")
    if "data" in given:
        known = values["data"] if isinstance(values.get("data"), dict) else {}
        merged["data"] = {name: path or known.get(name) for name, path in given["data"].items()}
        unknown = [name for name, path in merged["data"].items() if path is None]
        if unknown:
            has = f" The plan has: {', '.join(known)}." if known else ""
            raise ConfigError(
                f"data {unknown[0]!r}: no path. Give one, or a name from the plan.{has}", field="data"
            )
        if isinstance(values.get("transfer"), dict):
            left_out = [name for name in known if name not in merged["data"]]
            merged["transfer"] = {
                k: v for k, v in values["transfer"].items() if _get_source(v) not in left_out
            }
    return merged


def _get_source(transfer: Any) -> str | None:
    return transfer.get("learned_from") if isinstance(transfer, dict) else None
