"""The full tables of every plan, and the drawn curves, made from the committed results: `make tables`."""

from __future__ import annotations

import contextlib
import io
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TABLES = HERE / "tables"
FIGURES = HERE.parent / "docs" / "figures"

# Run with their first seed only: `ssr_unif`, which other plans have under more seeds, must not stand beside them
# with all of its own.
FLAGS = {"ssr_options": ("--seed", "0"), "ssr_encoders": ("--seed", "0")}
CURVES = {
    "efficiency": {
        "planted-gold_share-token_f1_eraser.svg": "efficiency-token-f1.svg",
        "planted-gold_share-shortcut_share.svg": "efficiency-shortcut-share.svg",
    }
}
MADE = (
    "Made by `make tables` from `benchmarks/results`, never edited by hand. What it means: "
    "[results](../../docs/results.md)."
)
COST_NOTE = (
    "Median seconds of one process on a shared machine of two cores. Other work ran beside most of them, so this is "
    "an order of magnitude. The first cell that needs a shared classifier or finder pays for it."
)


def plans() -> list[str]:
    """Names of all plans."""
    return sorted(path.stem for path in HERE.glob("*.yaml"))


def make_files(plan: str) -> dict[Path, str]:
    """What the tables and figures of a plan should hold, by the path of each file."""
    from rationalize.cli.main import app

    given = ["compare", str(HERE / f"{plan}.yaml"), "--tables-only", *FLAGS.get(plan, ())]
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            app(
                [*given, "--results", str(HERE / "results"), "--out", folder],
                prog_name="rationalize",
                standalone_mode=False,
            )
        out = Path(folder)
        files = {TABLES / f"{plan}.md": _head(plan) + _read(out / "tables.md")}
        for source, target in CURVES.get(plan, {}).items():
            files[FIGURES / target] = _read(out / "curves" / source)
    return files


def _head(plan: str) -> str:
    first = _read(HERE / f"{plan}.yaml").splitlines()[0].removeprefix("# ")
    flags = " ".join(("--tables-only", *FLAGS.get(plan, ()), "--results benchmarks/results --out OUT"))
    command = f"`rationalize compare benchmarks/{plan}.yaml {flags}`"
    return f"# {first.partition('. ')[0].rstrip('.:')}\n\n{command}\n\n{MADE}\n\n"


def make_costs() -> str:
    """What the runs have cost: a table per data set, a row per method as other tables name it."""
    seconds: dict[str, dict[str, list[dict[str, float]]]] = {}
    for path in sorted((HERE / "results").glob("*.json")):
        written = json.loads(_read(path))
        rows = seconds.setdefault(written["cell"]["data"], {})
        rows.setdefault(_row_name(written["cell"]), []).append(written["seconds"])
    parts = [f"# What a run cost\n\n{COST_NOTE}\n\n{MADE}\n"]
    for data, rows in seconds.items():
        parts.append(f"**{data}**\n\n| | runs | training | scoring |\n| --- | ---: | ---: | ---: |")
        for name, runs in rows.items():
            medians = [
                f"{statistics.median(run[part] for run in runs):.0f} s" for part in ("training", "scoring")
            ]
            parts.append(f"| {name} | {len(runs)} | {' | '.join(medians)} |")
        parts.append("")
    return "\n".join(parts)


def _row_name(cell: dict[str, Any]) -> str:
    copies = "" if cell["augment"] == "none" else f" + {cell['augment']} DA"
    usual = cell["supervision"] != "part" or cell["gold_share"] == 0.25
    return cell["name"] + copies + ("" if usual else f", {cell['gold_share']:.0%} gold".replace("%", " %"))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def main() -> None:
    """Write them all."""
    files = {TABLES / "cost.md": make_costs()}
    for plan in plans():
        files |= make_files(plan)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(HERE.parent))


if __name__ == "__main__":
    main()
