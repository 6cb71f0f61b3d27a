"""The cells of a comparison: one run each."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rationalize.comparison.plan import Entry, Plan
from rationalize.config import RunConfig, Settings
from rationalize.errors import ConfigError
from rationalize.files import to_json
from rationalize.methods.registry import method_class
from rationalize.runs.presets import Preset, fit_to_method, load_preset, use_preset
from rationalize.runs.settings import load_config
from rationalize.runs.shared_artifacts import describe_shared


@dataclass(frozen=True)
class Cell:
    """One run: what is trained on what.

    Attributes:
        key: Names its folder and file.
        name: The method as the plan calls it.
        data: The data set's name.
        config: The resolved settings.
        skipped: Settings of the preset or plan that the method does not have.
    """

    key: str
    name: str
    data: str
    config: RunConfig
    skipped: tuple[str, ...] = ()

    @property
    def artifacts(self) -> str | None:
        """What its artifacts are called, the data aside, if it shares them with others; None: it keeps its own."""
        settings = describe_shared(self.config)
        if settings is None:
            return None
        # The finder learns from the rest of the gold pool, which is the whole of it only for those who read all.
        reads_all = method_class(self.config.method).about.supervision == "full"
        digest = hashlib.sha256(to_json([self.data, reads_all, settings], indent=None).encode())
        return f"{self.data}-seed{self.config.seed}-{digest.hexdigest()[:8]}"


def list_cells(plan: Plan) -> list[Cell]:
    """Every cell of the plan once; a setting that no method has, or a method's own wrong one, is refused."""
    preset = load_preset(plan.preset)
    cells: dict[str, Cell] = {}
    for data in plan.data:
        for seed in plan.seeds:
            for entry in plan.entries:
                for cell in _cells(plan, preset, entry, data, seed):
                    if cells.setdefault(cell.key, cell).config != cell.config:
                        raise ConfigError(
                            f"{cell.key}: two different cells have this name. Rename a method or data set."
                        )
    for name in plan.set:
        if all(name in cell.skipped for cell in cells.values()):
            raise ConfigError(f"setting {name!r}: none of the compared methods has it.")
    return list(cells.values())


def shorten(keys: Sequence[str], named: int = 6) -> str:
    """The first few keys; of more, the number is given."""
    more = f" and {len(keys) - named} more" if len(keys) > named else ""
    return ", ".join(keys[:named]) + more


def _cells(plan: Plan, preset: Preset, entry: Entry, data: str, seed: int) -> Iterator[Cell]:
    common = fit_to_method({**preset.on(data), **plan.set}, entry.method)
    supervision = method_class(entry.method).about.supervision
    as_set: tuple[float | None, ...] = (None,)
    shares = plan.gold_shares or as_set if supervision == "part" else as_set
    kinds = entry.augment or (plan.augment if supervision != "none" else ("none",))
    for share in shares:
        for kind in kinds:
            for copies in plan.augment_shares or as_set if kind != "none" else as_set:
                own: Settings = {"method": entry.method, "seed": seed, "augment.kind": kind}
                own |= {} if share is None else {"data.gold_share": share}
                own |= {} if copies is None else {"augment.share": copies}
                config = load_config(None, {**common.settings, **entry.set, **own})
                if plan.preset is not None:
                    use = use_preset(plan.preset, data, entry.method, {**plan.set, **entry.set, **own})
                    config = config.model_copy(update={"preset": use})
                yield Cell(_key(entry.name, data, config), entry.name, data, config, common.skipped)


def _key(name: str, data: str, config: RunConfig) -> str:
    parts = [data, name]
    supervision = method_class(config.method).about.supervision
    if supervision == "part" or (supervision == "none" and config.augment.kind != "none"):
        parts.append(f"gold{config.data.gold_share:g}")
    if config.augment.kind != "none":
        parts.append(f"{config.augment.kind}{config.augment.share:g}")
    return "-".join(re.sub(r"[^A-Za-z0-9_+.]", "_", part) for part in [*parts, f"seed{config.seed}"])
