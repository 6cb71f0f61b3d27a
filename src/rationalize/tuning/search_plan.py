"""What to search: settings by their dotted names, each with its range or its choices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from rationalize.config import RunConfig, Settings, Strict, validate
from rationalize.errors import ConfigError
from rationalize.runs.auto_preset import DataLooks
from rationalize.runs.settings import apply_settings, flatten_settings, load_config
from rationalize.work.resources import Resources
from rationalize.yaml_text import read_yaml_file

Scalar = bool | int | float | str | None


class Dimension(Strict):
    """The values of one setting: a range from `low` to `high`, or `choices`."""

    low: int | float | None = None
    high: int | float | None = None
    step: int | float | None = None
    """Distance between values; None: any number, or 1 for whole numbers."""
    log: bool = False
    """Search orders of magnitude: as many values from 0.001 to 0.01 as from 0.01 to 0.1."""
    choices: tuple[Scalar, ...] | None = None

    @model_validator(mode="after")
    def _check_range(self) -> Self:
        if self.choices is not None:
            if self.low is not None or self.high is not None or self.step is not None or self.log:
                raise ValueError("choices stand alone; low, high, step and log are for ranges")
            if len(set(self.choices)) < 2:
                raise ValueError("expected two or more different choices")
            return self
        if self.low is None or self.high is None:
            raise ValueError("expected low and high, or choices")
        if not self.low < self.high:
            raise ValueError(f"low is {self.low}, high {self.high}; expected low < high")
        if self.step is not None and self.step <= 0:
            raise ValueError("step: expected more than 0")
        if self.log and (self.low <= 0 or self.step is not None):
            raise ValueError("log: expected low above 0, and no step")
        return self

    @property
    def is_whole(self) -> bool:
        """Whether its values are whole numbers."""
        ends = (self.low, self.high, 1 if self.step is None else self.step)
        return self.choices is None and all(isinstance(end, int) for end in ends)

    def list_extremes(self) -> tuple[Scalar, ...]:
        """List values that must all be valid: the ends of a range, or all choices."""
        return (self.low, self.high) if self.choices is None else self.choices

    def place(self, value: Any) -> float:
        """Place a value on the axis of a chart."""
        if self.choices is not None:
            return float(self.choices.index(value))
        return math.log10(value) if self.log else float(value)


class SearchPlan(Strict):
    """A search: what is fixed, what is varied, and which dev score decides."""

    space: dict[str, Dimension]
    """Settings to vary, by dotted name: `training.learning_rate`, `options.selection.share`."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Settings of every trial, as in the config of a run."""
    preset: str | None = "auto"
    """Named defaults for everything not given here."""
    metric: str = "task_f1_weighted"
    """The number of the dev evaluation that decides."""
    direction: Literal["maximize", "minimize"] = "maximize"
    seed: int = 0
    """Decides which values are tried."""
    at_once: Annotated[int, Field(ge=1)] = 1
    """Trials that are chosen together, each without the others' scores, so that they can be trained side by side."""
    resources: Resources = Resources()
    """What a trial asks of a cluster; on this machine it is not asked for."""

    @model_validator(mode="after")
    def _check_space(self) -> Self:
        if not self.space:
            raise ValueError("space: expected at least one setting to vary")
        return self

    def make_config(self, values: Mapping[str, Any], looks: DataLooks | None = None) -> RunConfig:
        """Return the settings of a run that tries these values.

        Raises:
            ConfigError: If a value or a name is not valid.
        """
        fixed = {
            dotted: value
            for name, given in self.settings.items()
            for dotted, value in (
                flatten_settings(given, name).items() if isinstance(given, Mapping) else [(name, given)]
            )
        }
        settings: Settings = {**fixed, **values}
        validate(RunConfig, apply_settings({}, settings), "the search plan")
        return load_config(None, settings, preset=self.preset, looks=looks)

    def check(self) -> None:
        """Refuse values that no run would take, before the first is trained.

        Raises:
            ConfigError: With the setting and the value.
        """
        for name, value in self._list_tests():
            try:
                self.make_config({name: value})
            except ConfigError as error:
                raise ConfigError(
                    f"space: {name}: {value!r} cannot be tried. {error}", field="space"
                ) from None

    def _list_tests(self) -> Iterator[tuple[str, Scalar]]:
        for name, dimension in self.space.items():
            if name.partition(".")[0] in ("data", "device", "seed", "preset"):
                raise ConfigError(
                    f"space: {name}: dev scores under other data, devices or seeds cannot be compared. "
                    "Expected settings of the method, the encoder or the training.",
                    field="space",
                )
            for value in dimension.list_extremes():
                yield name, value


def load_search_plan(path: Path, settings: Mapping[str, Any] | None = None) -> SearchPlan:
    """Read a search plan from YAML; `settings` by dotted name join or replace its own.

    Raises:
        ConfigError: If it is not valid.
    """
    values = read_yaml_file(path)
    if settings:
        values = {**values, "settings": apply_settings(values.get("settings") or {}, settings)}
    plan: SearchPlan = validate(SearchPlan, values, str(path))
    plan.check()
    return plan
