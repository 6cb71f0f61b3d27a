"""Put a known shortcut into real text, so that real data have what only made ones had: the truth about it.

In every split the shortcut follows the label as closely as the settings have it; `ood` is a copy of test in which each
document has the shortcut of the other side, at the same place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rationalize.data.conversion import require_free
from rationalize.data.data_files import ABOUT
from rationalize.data.dataset import DataSet
from rationalize.data.jsonl import write_jsonl
from rationalize.data.planted._insertion import insert_shortcut
from rationalize.data.planted.plant_config import PlantConfig, ShortcutPlan
from rationalize.data.planted.planted_statistics import PlantedStats, measure_split
from rationalize.data.read_options import ReadOptions
from rationalize.data.source import read_data
from rationalize.data.splits import is_lone, split_lone
from rationalize.errors import DataError
from rationalize.files import atomic_dir, to_json, write_json, write_text
from rationalize.seeding import derive_seed, python_random
from rationalize.text.words import PLAIN
from rationalize.types import Example
from rationalize.version import __version__

README = """\
# {name}, with a planted shortcut

The texts of {name} with shortcuts that `rationalize` {version} has put into them: they go with the label in
{share:.0%} of the documents of each label, and against it in as many of `ood`, a copy of test. `shortcuts` says
where they are.

Settings:

    {settings}

The license of the texts is that of {name}.
"""


@dataclass(frozen=True, slots=True)
class Planting:
    """What was written.

    Attributes:
        out: The folder.
        splits: Figures of each split.
        already: Documents that held one of the shortcuts before anything was planted.
        replaced: Examples of a split `ood` that the data had, in whose place the copy of test is.
    """

    out: str
    splits: dict[str, PlantedStats]
    already: int
    replaced: int


def plant_data(
    source: Any, out: Path, config: PlantConfig, options: ReadOptions | None = None, *, force: bool = False
) -> Planting:
    """Write a data set with planted shortcuts as a folder of JSON Lines, whole or not at all.

    Args:
        source: Anything `rationalize.load` takes; one file without splits is split into train, dev and test.
        out: The folder to make.
        config: What to plant.
        options: How to read the data.
        force: Replace a folder written before.

    Raises:
        ConfigError: If `out` exists and may not be replaced.
        DataError: If a row cannot be read, a label does not occur, or there is no test to reverse.
    """
    require_free(out, force=force)
    data = read_data(source, options or ReadOptions())
    data = split_lone(data) if is_lone(data) else data
    planted = plant(data, config)
    with atomic_dir(out) as folder:
        for split, examples in planted.items():
            write_jsonl(folder / f"{split}.jsonl", examples)
        if data.words != PLAIN:
            write_json(folder / ABOUT, {"words": data.words})
        settings = to_json(config.model_dump(), indent=None)
        about = README.format(
            name=data.name, version=__version__, share=config.correlation, settings=settings
        )
        write_text(folder / "README.md", about)
    agrees = partial(_agrees, config)
    figures = {split: measure_split(examples, data.words, agrees) for split, examples in planted.items()}
    already = sum(_has_any(example, config) for example in _list_all(data))
    return Planting(str(out), figures, already, len(data.splits.get("ood", ())))


def plant(data: DataSet, config: PlantConfig) -> DataSet:
    """Put shortcuts into the texts of all splits, and add `ood`; one that the data had gives way to it.

    Raises:
        DataError: If a label does not occur, or there is no test to reverse.
    """
    unknown = sorted({plan.label for plan in config.shortcuts} - set(data.labels))
    if unknown:
        raise DataError(
            f"{data.name}: saw no label {unknown[0]!r} for a shortcut, expected one of {', '.join(data.labels)}."
        )
    if "test" not in data:
        raise DataError(
            f"{data.name}: saw the splits {', '.join(data)}, expected test, of which ood is made. Make splits first "
            "(`rationalize data split`)."
        )
    planter = _Planter(data, config)
    splits = {
        split: tuple(planter.plant_split(split, examples))
        for split, examples in data.items()
        if split != "ood"
    }
    splits["ood"] = tuple(planter.plant_split("test", data["test"], reverse=True))
    return replace(data, name=f"{data.name}-planted", splits=splits, path=None, known=None)


class _Planter:
    def __init__(self, data: DataSet, config: PlantConfig) -> None:
        self.words = data.words
        self.config = config
        self.plans: dict[str, list[ShortcutPlan]] = defaultdict(list)
        for planned in config.shortcuts:
            self.plans[planned.label].append(planned)
        # A label without shortcuts is the side of those documents that get none.
        self.sides = sorted({label if label in self.plans else "" for label in data.labels})

    def plant_split(
        self, split: str, examples: Sequence[Example], *, reverse: bool = False
    ) -> Iterator[Example]:
        """The examples with the shortcut of their own side, or of another; the other way round if reversed."""
        agreeing = self._choose_agreeing(split, examples)
        for example in examples:
            if example.label is None:
                yield example
                continue
            rng = python_random(self.config.seed, "plant", split, example.id)
            own = example.label if example.label in self.plans else ""
            others = [side for side in self.sides if side != own]
            other = rng.choice(others) if others else own
            side = own if (example.id in agreeing) != reverse else other
            known = replace(example, shortcuts=example.shortcuts or ())
            yield insert_shortcut(known, rng.choice(self.plans[side]), self.words, rng) if side else known

    def _choose_agreeing(self, split: str, examples: Sequence[Example]) -> set[str]:
        """Choose the exact share of each label's documents."""
        by_label: dict[str, list[str]] = defaultdict(list)
        for example in examples:
            by_label[str(example.label)].append(example.id)
        agreeing: set[str] = set()
        for ids in by_label.values():
            ids.sort(key=lambda id: (derive_seed(self.config.seed, "plant side", split, id), id))
            agreeing.update(ids[: round(self.config.correlation * len(ids))])
        return agreeing


def _agrees(config: PlantConfig, example: Example) -> bool:
    """Whether the planted shortcut is one of the label's own, or rightly absent."""
    side = {plan.text: plan.label for plan in config.shortcuts}
    found = {side.get(example.text[span.start : span.end]) for span in example.shortcuts or ()} - {None}
    return found == {example.label} & set(side.values())


def _has_any(example: Example, config: PlantConfig) -> bool:
    text = f" {' '.join(example.text.lower().split())} "
    return any(f" {plan.text.lower()} " in text for plan in config.shortcuts)


def _list_all(data: DataSet) -> Iterator[Example]:
    return (example for examples in data.values() for example in examples)
