"""Presets: named settings for any method, from the YAML files in this folder, with parts for known data sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml
from pydantic import BaseModel, Field

from rationalize.config import PresetUse, Settings, Strict, validate
from rationalize.errors import ConfigError


class Preset(Strict):
    """Settings for every run, for single data sets, and for data of some kind (see `auto_preset`)."""

    about: str = ""
    settings: Settings = Field(default_factory=dict)
    by_data: dict[str, Settings] = Field(default_factory=dict)
    by_kind: dict[str, Settings] = Field(default_factory=dict)
    pretrained: dict[str, Settings] = Field(default_factory=dict)
    with_gold: Settings = Field(default_factory=dict)
    nothing_to_mark: Settings = Field(default_factory=dict)
    rare_gold: Settings = Field(default_factory=dict)
    from_scratch: Settings = Field(default_factory=dict)

    def select_settings(self, data: str | None) -> Settings:
        """Return the settings for a data set; an unknown one gets only the common settings."""
        return {**self.settings, **(self.by_data.get(data, {}) if data else {})}


@cache
def load_preset(name: str | None) -> Preset:
    """Load one of the package's presets; None: an empty one."""
    if name is None:
        return Preset()
    folder = resources.files(__package__)
    known = sorted(
        file.name.removesuffix(".yaml") for file in folder.iterdir() if file.name.endswith(".yaml")
    )
    if name not in known:
        raise ConfigError(f"preset {name!r} is unknown. Known: {', '.join(known)}.")
    values = yaml.safe_load((folder / f"{name}.yaml").read_text(encoding="utf-8"))
    preset: Preset = validate(Preset, values, f"preset {name}")
    return preset


@dataclass(frozen=True)
class FittedSettings:
    """Common settings that a method has, and the names of those that it lacks."""

    settings: Settings
    skipped: tuple[str, ...]


def fit_to_method(common: Settings, method: str) -> FittedSettings:
    """Separate common settings into those that the method has and those that it lacks."""
    skipped = tuple(name for name in common if not _has_setting(method, name))
    return FittedSettings({name: value for name, value in common.items() if name not in skipped}, skipped)


def use_preset(name: str, data: str | None, method: str, given: Iterable[str] = ()) -> PresetUse:
    """Return what a preset contributes to a method's run on a data set; given settings override it."""
    preset, taken = load_preset(name), set(given)
    fitted = fit_to_method(preset.select_settings(data), method)
    return PresetUse(
        name=name,
        data=data if data in preset.by_data else None,
        applied={key: value for key, value in fitted.settings.items() if key not in taken},
        skipped=fitted.skipped,
    )


def describe_use(use: PresetUse, method: str) -> str:
    """Describe what a run took from a preset: in one line, or `auto` with a line for each reason."""
    named = ", ".join(load_preset(use.name).by_data)
    other = f", without a part for this data set (data.name can be {named})" if named else ""
    part = f", with its part for {use.data}" if use.data else other
    applied = ", ".join(f"{name}={value}" for name, value in use.applied.items())
    skipped = f"; {method} has no {', '.join(use.skipped)}" if use.skipped else ""
    because = f" for {'; '.join(use.reasons)}" if use.reasons else ""
    return f"preset {use.name}{part}{because}: {applied or 'nothing'}{skipped}"


def _has_setting(method: str, name: str) -> bool:
    """Return whether the method has a dotted setting; it can lack only entries of `options`."""
    from rationalize.methods.registry import method_class

    first, *path = name.split(".")
    if first != "options":
        return True
    kind: Any = method_class(method).Config
    for part in path:
        if not (isinstance(kind, type) and issubclass(kind, BaseModel)) or part not in kind.model_fields:
            return False
        kind = kind.model_fields[part].annotation
    return True
