"""A coverage-guided search for bytes that a reader neither reads nor refuses: `python tests/fuzz/reader_fuzzer.py`.

It needs atheris (`pip install 'rationalize[fuzz]'`). The first byte of an input chooses the reader, the rest is a file.
Seeds are one small file per reader.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["rationalize.data"]):
    from rationalize.data.annotation import FORMATS
    from rationalize.data.source import load

from rationalize.data.conversion import convert
from rationalize.errors import RationalizeError
from rationalize.types import Example, Span

EXAMPLES = [
    Example(str(number), "a truly gripping story , wide café", label, "good ?", rationale=(Span(2, 16),))
    for number, label in enumerate(["POS", "NEG"])
]
TOOLS = {
    "label_studio": ".json",
    "argilla": ".json",
    "prodigy": ".jsonl",
    "hatexplain": ".json",
    "doccano": ".jsonl",
}


def list_readers() -> list[tuple[str, Callable[[Path], object]]]:
    """Names of files, and what reads them."""
    rows = [
        (f"train{ending}", load)
        for ending in (".jsonl", ".csv", ".tsv", ".json", ".parquet", ".zip", ".tar.gz")
    ]
    return [*rows, *((f"{name}{ending}", FORMATS[name].read) for name, ending in TOOLS.items())]


def make_seeds(folder: Path) -> None:
    """One whole file for most of the readers."""
    rows = folder / "rows"
    rows.mkdir()
    lines = [{"id": each.id, "text": each.text, "label": each.label, "query": each.query, "rationale": [[2, 16]]}
             for each in EXAMPLES]  # fmt: skip
    (rows / "train.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    seeds = folder / "seeds"
    seeds.mkdir()
    for number, (name, _) in enumerate(list_readers()):
        kind = name.partition(".")[2]
        made = folder / f"made-{name}"
        if name == "train.json":
            data = json.dumps(lines).encode()
        elif kind in ("csv", "parquet") or not name.startswith("train"):
            convert(rows, made, kind if name.startswith("train") else name.partition(".")[0])
            data = next(path for path in sorted(made.rglob("*")) if path.suffix == f".{kind}").read_bytes()
        elif name == "train.jsonl":
            data = (rows / "train.jsonl").read_bytes()
        else:
            continue
        (seeds / name).write_bytes(bytes([number]) + data)


def main() -> None:
    """Search; every input that fails is printed with its traceback, and ends the search."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    readers = list_readers()
    counts = {"attempted": 0, "read": 0, "refused": 0}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        make_seeds(folder)
        place = folder / "place"
        place.mkdir()

        def test_one_input(data: bytes) -> None:
            name, read = readers[data[0] % len(readers)] if data else readers[0]
            path = place / name
            path.write_bytes(data[1:])
            counts["attempted"] += 1
            try:
                read(path)
                counts["read"] += 1
            except RationalizeError as error:
                counts["refused"] += 1
                if name not in str(error):
                    raise AssertionError(f"names no file: {error}") from error
            finally:
                path.unlink()
            if counts["attempted"] == runs:
                held = counts["read"] + counts["refused"]
                print(
                    f"readers, guided by coverage: attempted {runs}, held {held}, failed {runs - held} ({counts})",
                    flush=True,
                )

        atheris.Setup(
            [
                sys.argv[0],
                f"-atheris_runs={runs}",
                "-seed=1",
                "-max_len=4096",
                "-timeout=30",
                "-rss_limit_mb=4096",
                str(folder / "seeds"),
            ],
            test_one_input,
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
