"""The cells of a comparison: one run each."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rationalize.comparison._source_cache import look_at_source
from rationalize.comparison.plan import Entry, Plan
from rationalize.config import Augmentation, PresetUse, RunConfig, Settings
from rationalize.data.read_options import ReadOptions
from rationalize.errors import ConfigError
from rationalize.files import to_json
from rationalize.methods.registry import About, method_class
from rationalize.runs.auto_preset import AUTO, use_auto
from rationalize.runs.presets import Preset, fit_to_method, load_preset, use_preset
from rationalize.runs.settings import load_config
from rationalize.runs.shared_artifacts import describe_shared

PAPER_GOLD_SHARE = 0.25
"""How much gold semi-supervised methods may use in a comparison, as in the SSR paper, unless the plan sets it."""


@dataclass(frozen=True)
class Cell:
    """One run: a method on a data set.

    Attributes:
        key: Names its folder and file.
        name: The plan's name for the method.
        data: The data set's name.
        config: The resolved settings.
        skipped: Preset or plan settings that the method lacks.
    """

    key: str
    name: str
    data: str
    config: RunConfig
    skipped: tuple[str, ...] = ()

    @property
    def artifacts(self) -> str | None:
        """The name of the artifacts that it shares with other cells, apart from the data; None: it shares none."""
        settings = describe_shared(self.config)
        if settings is None:
            return None
        # The finder learns from examples outside the gold pool, so it depends on whether the method reads all gold.
        reads_all = method_class(self.config.method).about.supervision == "full"
        digest = hashlib.sha256(to_json([self.data, reads_all, settings], indent=None).encode())
        return f"{self.data}-seed{self.config.seed}-{digest.hexdigest()[:8]}"


def list_cells(plan: Plan) -> list[Cell]:
    """List every cell of the plan once; refuse unknown settings and names that clash."""
    preset = load_preset(plan.preset)
    cells: dict[str, Cell] = {}
    for data in plan.data:
        for seed in plan.seeds:
            for entry in plan.entries:
                for cell in _make_cells(plan, preset, entry, data, seed):
                    if cells.setdefault(cell.key, cell).config != cell.config:
                        raise ConfigError(
                            f"{cell.key}: two different cells have this name. Rename a method or a data set."
                        )
    for name in plan.set:
        if all(name in cell.skipped for cell in cells.values()):
            raise ConfigError(f"setting {name!r}: no compared method has it. Remove it, or check its name.")
    return list(cells.values())


def shorten(keys: Sequence[str], named: int = 6) -> str:
    """Join the first few keys; count the rest."""
    more = f" and {len(keys) - named} more" if len(keys) > named else ""
    return ", ".join(keys[:named]) + more


def _make_cells(plan: Plan, preset: Preset, entry: Entry, data: str, seed: int) -> Iterator[Cell]:
    gold: Settings = {"data.gold_share": PAPER_GOLD_SHARE}
    auto = _use_auto(plan, entry, data, seed) if plan.preset == AUTO else None
    if auto is not None:
        chosen = {**auto.applied, **gold}
    else:
        chosen = {**gold, "data.long_texts": "truncate", **preset.select_settings(data)}  # as in the paper
    common = fit_to_method({**chosen, **plan.set}, entry.method)
    about = method_class(entry.method).about
    supervision = about.supervision
    as_set: tuple[float | None, ...] = (None,)
    shares = plan.gold_shares or as_set if supervision == "part" else as_set
    kinds = entry.augment or _choose_kinds(plan, about)
    for share in shares:
        for kind in kinds:
            for copies in plan.augment_shares or as_set if kind != "none" else as_set:
                own: Settings = {"method": entry.method, "seed": seed, "augment.kind": kind}
                own |= {} if share is None else {"data.gold_share": share}
                own |= {} if copies is None else {"augment.share": copies}
                config = load_config(None, {**common.settings, **entry.set, **own})
                if plan.preset is not None:
                    given = {**plan.set, **entry.set, **own}
                    use = auto or use_preset(plan.preset, data, entry.method, given)
                    config = config.model_copy(update={"preset": use})
                yield Cell(_make_key(entry.name, data, config), entry.name, data, config, common.skipped)


def _choose_kinds(plan: Plan, about: About) -> tuple[Augmentation, ...]:
    """Return the augmentations that a plan asks for: a method's own where it does not say."""
    if "augment" not in plan.model_fields_set:
        return (about.augment,)
    return plan.augment if about.supervision != "none" else ("none",)


def _use_auto(plan: Plan, entry: Entry, data: str, seed: int) -> PresetUse:
    """Look at the cell's data and let `auto` choose; what the plan sets overrides it."""
    given = {**plan.set, **entry.set}
    reading = {
        name: value for name, value in given.items() if name.startswith(("data.", "training.map_from"))
    }
    config = load_config(None, reading)
    options = ReadOptions.from_run(config)
    looks = look_at_source(plan.data[data], seed, options, config.data.train)
    return use_auto(looks, entry.method, {"data.gold_share": PAPER_GOLD_SHARE, **given})


def _make_key(name: str, data: str, config: RunConfig) -> str:
    parts = [data, name]
    supervision = method_class(config.method).about.supervision
    if supervision == "part" or (supervision == "none" and config.augment.kind != "none"):
        parts.append(f"gold{config.data.gold_share:g}")
    if config.augment.kind != "none":
        parts.append(f"{config.augment.kind}{config.augment.share:g}")
    return "-".join(re.sub(r"[^A-Za-z0-9_+.]", "_", part) for part in [*parts, f"seed{config.seed}"])
