"""The planted corpus as a folder in ERASER's layout, with a README that says how it was made."""

from __future__ import annotations

from pathlib import Path

from rationalize.data._eraser_writer import write_eraser
from rationalize.data.conversion import require_free
from rationalize.data.planted.corpus import LABELS, build_corpus
from rationalize.data.planted.planted_config import SIZES, PlantedConfig
from rationalize.data.planted.planted_statistics import PlantedStats, summarize
from rationalize.files import atomic_dir, to_json, write_text
from rationalize.version import __version__

README = """\
# Planted corpus

Reviews of films that do not exist, written by the grammar of `rationalize` {version}. The label (NEG, POS)
follows from the author's opinions, which are the gold evidence; `shortcuts/` says where phrases stand that go
with the label in `train`, `val` (dev) and `test` and against it in `ood`, without being anybody's opinion.

Layout: ERASER (`<split>.jsonl`, `docs/`), one sentence per line, tokens separated by spaces.

Made by:

    {command}

Settings:

    {settings}

License: CC0 1.0 (public domain).
"""


def write_planted(config: PlantedConfig, out: Path, *, force: bool = False) -> dict[str, PlantedStats]:
    """Make the corpus, write it completely or not at all, and return the statistics of each split.

    Raises:
        ConfigError: If `out` exists and may not be replaced.
    """
    require_free(out, force=force)
    corpus = build_corpus(config)
    with atomic_dir(out) as folder:
        write_eraser(folder, corpus)
        write_text(folder / "README.md", _render_readme(config))
    return summarize(corpus)


def _render_readme(config: PlantedConfig) -> str:
    sizes = " ".join(f"--{split} {config.sizes.get(split, 0)}" for split in SIZES)
    command = f"rationalize data planted --out DIR --seed {config.seed} --correlation {config.correlation}"
    if set(config.gold_classes) != set(LABELS):
        command += "".join(f" --gold-classes {label}" for label in config.gold_classes)
    settings = to_json(config.model_dump(), indent=None)
    return README.format(version=__version__, command=f"{command} {sizes}", settings=settings)
