"""Resolve settings to a run's config: checked against the method, with every default filled in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rationalize.config import FinderConfig, FinderSelection, RunConfig, Settings, validate
from rationalize.data.catalog import read_recorded_name
from rationalize.errors import ConfigError
from rationalize.files import JsonObject
from rationalize.methods.options import find_selection_layers
from rationalize.methods.registry import method_class
from rationalize.methods.uniform import choose_uniform_weight
from rationalize.models.depth import LAYERS_FIELD, check_depth, find_depth
from rationalize.runs.auto_preset import AUTO, DataLooks, use_auto
from rationalize.runs.presets import use_preset
from rationalize.yaml_text import DEEPEST, read_yaml_file

FREE_TO_CHANGE: dict[str, Any] = {
    "device": True,
    "preset": True,
    "data": {"path", "name"},
    "training": {
        "checkpoint_every",
        "keep_checkpoints",
        "keep",
        "cache",
        "map_from",
        "report_to",
        "gradient_checkpointing",
        "sharding",
    },
}
"""Settings that do not change results (paths, how often to save): they may differ when a run is resumed."""


def load_config(
    path: Path | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    preset: str | None = None,
    looks: DataLooks | None = None,
) -> RunConfig:
    """Load a YAML file, a preset or the defaults, override it with dotted settings, and resolve it.

    A preset's part for one data set applies only if that data set is named, by `data.name` or by the name that
    `data get` recorded beside the data. The preset `auto` follows what the data look like; before they have been
    looked at, it is empty.
    """
    given = settings or {}
    if preset is not None:
        if path is not None:
            raise ConfigError(f"got both the config file {path} and preset {preset}. Give only one of them.")
        return _load_with_preset(preset, given, looks)
    values = apply_settings(read_settings(path) if path else {}, given)
    config: RunConfig = validate(RunConfig, values, str(path or "settings"))
    try:
        return resolve_config(config)
    except ConfigError as error:
        if path is None:
            raise
        raise ConfigError(f"{path}: {error}", field=error.fields) from None


def _load_with_preset(preset: str, given: Mapping[str, Any], looks: DataLooks | None) -> RunConfig:
    defaults = RunConfig()
    path, name = given.get("data.path"), given.get("data.name")
    method = given.get("method", defaults.method)
    if preset != AUTO:
        data = name or (read_recorded_name(Path(path)) if path else None)
        use = use_preset(preset, data, method, given)
    elif looks is not None:
        use = use_auto(looks, method, given)
    else:
        use = None
    values = apply_settings(apply_settings({}, use.applied if use else {}), given)
    config: RunConfig = validate(RunConfig, {**values, "preset": use}, "settings")
    return resolve_config(config)


def resolve_config(config: RunConfig) -> RunConfig:
    """Check the method's and the finder's settings, and fill in their defaults. Done once per run."""
    method = method_class(config.method)
    options = validate(method.Config, config.options, f"options of {config.method}").model_dump(mode="json")
    finder = _resolve_finder(config.shortcuts.finder, options.get("selection", {}))
    weight = choose_uniform_weight(method.about, config.shortcuts)
    shortcuts = config.shortcuts.model_copy(update={"finder": finder, "uniform_weight": weight})
    augment = config.augment
    if "kind" not in augment.model_fields_set:
        augment = augment.model_copy(update={"kind": method.about.augment})
    return config.model_copy(update={"options": options, "shortcuts": shortcuts, "augment": augment})


def _resolve_finder(given: FinderConfig, own: Mapping[str, Any]) -> FinderConfig:
    """Return the finder's complete options; unset ones follow the run's method."""
    wanted = given.model_dump(mode="json")
    # Only these follow: once resolved, others may be None as well, and have to stay so when a run is resumed.
    followed = {
        name: own.get(name) for name in FinderSelection.model_fields if wanted["selection"][name] is None
    }
    selection = {**wanted["selection"], **followed}
    wanted["selection"] = {name: value for name, value in selection.items() if value is not None}
    options = validate(method_class("un_rat").Config, wanted, "shortcuts.finder (of un_rat)")
    return FinderConfig.model_validate(options.model_dump(mode="json"))


def check_resolved(config: RunConfig) -> None:
    """Refuse a config that has not passed `resolve_config`: its finder options would be incomplete."""
    if config.shortcuts.finder.selection.share is None:
        raise ValueError("the config is not resolved: pass it through runs.settings.resolve_config first")


def check_layers(config: RunConfig) -> None:
    """Refuse settings that count more layers than the encoder has, before anything is trained."""
    if config.training.cache_frozen and not config.training.freeze_layers:
        raise ConfigError(
            "training.cache_frozen is set, but no layer is frozen. Set training.freeze_layers to 1 or more, or leave "
            "training.cache_frozen out.",
            field="training.cache_frozen",
        )
    options = method_class(config.method).Config.model_validate(config.options)
    wanted = {
        LAYERS_FIELD: find_selection_layers(options),
        "training.freeze_layers": config.training.freeze_layers,
    }
    for field, layers in wanted.items():
        if layers is not None:
            check_depth(layers, find_depth(config.encoder), config.encoder.name, field)


def identify(config: RunConfig) -> JsonObject:
    """Return the settings that decide a run's results."""
    return config.model_dump(mode="json", exclude=FREE_TO_CHANGE)


def read_settings(path: Path) -> JsonObject:
    """Read a YAML file's sections, not yet validated."""
    return {
        name: value for name, value in read_yaml_file(path).items() if value is not None
    }  # empty sections


def flatten_settings(values: Mapping[str, Any], prefix: str) -> Settings:
    """Return nested settings by dotted name, the inverse of `apply_settings`; an empty section is a value."""
    found: Settings = {}
    for name, value in values.items():
        dotted = f"{prefix}.{name}"
        nested = isinstance(value, Mapping) and value
        found |= flatten_settings(value, dotted) if nested else {dotted: value}
    return found


def apply_settings(values: Mapping[str, Any], settings: Mapping[str, Any]) -> JsonObject:
    """Return nested sections with dotted settings (`{"training.epochs": 5}`) applied; the arguments stay unchanged."""
    found = dict(values)
    for name, value in settings.items():
        if name.count(".") > DEEPEST:
            raise ConfigError(f"{name[:80]}…: no setting lies so deep.")
        first, dot, rest = name.partition(".")
        if not dot:
            found[first] = value
            continue
        inside = found.get(first)
        if inside is not None and not isinstance(inside, Mapping):
            raise ConfigError(f"{name}: {first!r} is a single value and has no settings inside.")
        found[first] = apply_settings(inside or {}, {rest: value})
    return found


def list_differences(old: Any, new: Any, prefix: str = "") -> list[str]:
    """List the differences between two nested settings, one readable line each."""
    if isinstance(old, dict) and isinstance(new, dict):
        lines = []
        for key in sorted(old.keys() | new.keys()):
            lines += list_differences(old.get(key, "(absent)"), new.get(key, "(absent)"), f"{prefix}{key}.")
        return lines
    return [] if old == new else [f"{prefix.rstrip('.')}: was {old!r}, now {new!r}"]
