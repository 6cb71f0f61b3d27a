"""Every command and Python block of README and docs is run, on small data that stand in for what it names.

A block that cannot run here carries a comment with the reason above its fence; these are counted.
"""

from __future__ import annotations

import json
import re
import shutil
import tarfile
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from doc_blocks import PAGES, ROOT, blocks_of, run_block
from helpers import tiny_corpus
from rating_studies import GOOD, FakeModel, serving
from rationalize.data.jsonl import to_row

EXECUTED = {"python", "bash"}
SHOWN = {"csv", "json", "text", "yaml"}
NOT_EXECUTED = {
    "README.md": 1,
    "docs/encoders.md": 1,
    "docs/getting-started.md": 1,
    "docs/ratings.md": 1,
    "docs/results.md": 2,
    "docs/scale.md": 2,
    "docs/serving.md": 7,
    "docs/studio.md": 4,
    "docs/tuning.md": 1,
}
# A page of each kind is left: Python, commands, data, an annotation tool, and a comparison in the README.
SLOW = {
    f"docs/{name}.md"
    for name in ("audit", "compare", "devices", "encoders", "evaluation", "export", "performance", "planted")
} | {f"docs/{name}.md" for name in ("ratings", "scale", "ssr", "training")}

# All that differs from what a page shows: small settings, a local archive instead of a download, and a
# server on this machine that grades everything alike.
TINY = {"name": "tiny", "hidden_size": 32, "layers": 2, "heads": 2, "max_tokens": 64}
TINY_FLAGS = " ".join(f"--set encoder.{name}={value}" for name, value in TINY.items())
REPLACED = {
    "--preset small": f"{TINY_FLAGS} --set training.epochs=1",
    'preset="small"': f'encoder={TINY}, training={{"epochs": 1}}',
    "selection.layers=2": "selection.layers=1",
    "freeze_layers=2": "freeze_layers=1",
    "--layers 3": "--layers 1",
    "data get movies ": "data get movies.tar.gz ",
}


@pytest.fixture(scope="session")
def stand_ins(tmp_path_factory) -> Path:
    """Small reviews in every place that the pages name, and a model trained on them."""
    folder = tmp_path_factory.mktemp("stand-ins")
    parts = {"train": slice(0, 80), "dev": slice(80, 100), "test": slice(100, 130), "ood": slice(130, 150)}
    examples = {split: tiny_corpus(150)[part] for split, part in parts.items()}
    queries = {"NEG": "the film is incapable of joy", "POS": "the film is a joy"}
    names = {"NEG": "negative", "POS": "positive"}
    for split, reviews in examples.items():
        rows = [to_row(each) for each in reviews]
        _write_jsonl(folder / "plain" / f"{split}.jsonl", rows)
        _write_jsonl(
            folder / "data/fever" / f"{split}.jsonl",
            [{**row, "query": queries[row["label"]]} for row in rows],
        )
        _write_csv(folder / "reviews" / f"{split}.csv", [(row["text"], row["label"]) for row in rows])
        _write_csv(
            folder / "data/imdb" / f"{split}.csv", [(row["text"], names[row["label"]]) for row in rows]
        )
    _run("data", "convert", folder / "plain", folder / "data/movies", "--to", "eraser")
    shutil.rmtree(folder / "plain")
    with tarfile.open(folder / "movies.tar.gz", "w:gz") as archive:
        archive.add(folder / "data/movies", "movies")
    flags = [*TINY_FLAGS.split(), "--epochs", "1", "--quiet"]
    _run(
        "train",
        "--data",
        folder / "data/movies",
        "--method",
        "semi_rat",
        "--out",
        folder / "runs/movies",
        *flags,
    )
    for name in ("ssr", "base"):
        shutil.copytree(folder / "runs/movies", folder / "runs" / name)
    return folder


def _run(*words: object) -> None:
    from rationalize.cli.main import app

    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def _write_jsonl(path: Path, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _write_csv(path: Path, rows: list[tuple[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["text,label", *(f'"{text}",{label}' for text, label in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.slow if page in SLOW else ()) for page in sorted(PAGES)]
)
def test_every_block_of_a_page_runs(page, stand_ins, tmp_path, monkeypatch):
    blocks = [block for block in blocks_of(page) if block.reason is None]
    if not any(block.language in EXECUTED for block in blocks):
        return
    shutil.copytree(stand_ins, tmp_path, dirs_exist_ok=True)
    for made in re.findall(r"--out (runs/\S+)", PAGES[page].read_text(encoding="utf-8")):
        shutil.rmtree(tmp_path / made, ignore_errors=True)  # what a page makes itself is not there before
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "__main__"}
    with serving(FakeModel((200, GOOD))) as grader:
        replaced = REPLACED | {"http://127.0.0.1:8000/v1": grader.base_url}
        for block in blocks:
            run_block(block, replaced, names)


def test_a_block_that_is_not_executed_says_why():
    skipped = [block for page in PAGES for block in blocks_of(page) if block.reason is not None]
    assert all(len(block.reason.split()) >= 2 for block in skipped), [block.place for block in skipped]
    assert Counter(block.page for block in skipped) == NOT_EXECUTED


def test_no_command_hides_in_a_block_that_is_not_run():
    for page in PAGES:
        for block in blocks_of(page):
            if block.language not in EXECUTED:
                commands = re.findall(
                    r"(?m)^\s*(?:\$ )?(?:rationalize|make|pip|python|import|from) .*", block.text
                )
                assert not commands, f"{block.place}: mark the fence as bash or python: {commands}"
                assert page == "docs/methods.md" or block.language in SHOWN, (
                    f"{block.place}: {block.language!r}"
                )


def test_links_lead_somewhere():
    broken = []
    for page, path in {**PAGES, "benchmarks/README.md": ROOT / "benchmarks/README.md"}.items():
        for target in re.findall(r"\]\(([^)#\s]*(?:#[^)\s]*)?)\)", path.read_text(encoding="utf-8")):
            name, _, anchor = target.partition("#")
            there = path if not name else path.parent / name
            if "://" in target:
                continue
            if not there.exists() or (anchor and anchor not in _anchors(there)):
                broken.append(f"{page}: {target}")
    assert not broken


def _anchors(path: Path) -> set[str]:
    headings = re.findall(r"(?m)^#+ (.+)$", path.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_paths_of_the_repository_that_pages_name_are_there():
    named = {
        (page, name)
        for page, path in PAGES.items()
        for name in re.findall(r"\b(?:src|tests|benchmarks)/[\w./-]*\w", path.read_text(encoding="utf-8"))
    }
    assert not {each for each in named if not (ROOT / each[1]).exists()}


def test_pages_are_short_and_listed():
    index = PAGES["docs/index.md"].read_text(encoding="utf-8")
    assert all(
        f"({path.name})" in index
        for page, path in PAGES.items()
        if page not in {"README.md", "docs/index.md"}
    )
    assert len(PAGES["README.md"].read_text(encoding="utf-8").splitlines()) <= 110


def test_no_page_keeps_both_sides_of_a_merge():
    unmerged = [
        f"{page}: {line}"
        for page, path in PAGES.items()
        for line in re.findall(r"(?m)^(?:<{7}|>{7}) .*", path.read_text(encoding="utf-8"))
    ]
    assert not unmerged


def test_passes_of_the_chooser_are_those_of_the_methods():
    listed = re.findall(
        r"(?m)^\| \[`(\w+)`\].*?\|.*?\|.*?\|.*?\| (.+?) \| (.+?) \|",
        (ROOT / "docs/methods.md").read_text("utf-8"),
    )
    known = {name: f"{train}; {explain}" for name, train, explain in listed}
    chooser = re.findall(
        r"(?m)^\| `(\w+)`[^|]*\|[^|]*\| (?:yes|no) \| ([^|]+) \|",
        (ROOT / "docs/choosing.md").read_text("utf-8"),
    )
    assert {name for name, _ in chooser} == set(known)
    assert not [(name, passes) for name, passes in chooser if known[name] != passes]
