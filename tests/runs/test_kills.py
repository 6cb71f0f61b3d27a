"""A run that is killed anywhere, and resumed, ends with the very same files as one that was left alone."""

from __future__ import annotations

import errno
import os
from fnmatch import fnmatch

import pytest
import torch
from killing import Warm
from runs_helpers import run, small_config, tree

from helpers import add_slow

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")

# What is being done when the kill comes, and for the how-manieth time: between two files and in the
# middle of one; the others are slow.
PLACES = [("rename to checkpoints/step-*", 5), ("write a row of metrics.jsonl", 3)]
MORE_PLACES = [
    ("rename to artifacts/un_rat/model", 0),
    ("step", 13),
    ("rename to checkpoints/.best.old", 0),
    ("rename to model", 0),
    ("remove optimizer.safetensors", -1),
    ("write .run.json.part", 0),
    ("flush artifacts/un_rat/checkpoints/.best.part", 0),
    ("write artifacts/.shortcuts.jsonl.part", 0),
    ("rename to artifacts/augmented-random-0.25.jsonl", 0),
    ("step", 4),
    ("write checkpoints/.step-*/model.safetensors", 1),
    ("write checkpoints/.step-*/.MANIFEST.json.part", 3),
    ("remove optimizer.safetensors", 2),
    ("write checkpoints/.best.part/model.safetensors", 1),
    ("rename to checkpoints/best", 2),
    ("flush metrics.jsonl", 6),
    ("write .results.json.part", 0),
    ("write .model.part/model.safetensors", 0),
    ("write .run.json.part", 1),
    ("rename to run.json", 1),
    ("remove checkpoints", -1),
    ("remove artifacts/un_rat/model", -1),
]
# The same where artifacts are made in a cache.
CACHED = [("rename to */warm-*/run.json", 1)]
MORE_CACHED = [
    ("rename to */shortcuts-*/shortcuts.jsonl", 0),
    ("write */warm-*/.model.part/model.safetensors", 0),
    ("rename to */un_rat-*/checkpoints/step-*", 0),
    ("rename to artifacts/shortcuts.json", 0),
    ("rename to artifacts/cached.json", 1),
    ("step", -2),
]


@pytest.fixture(scope="module")
def warm():
    process = Warm()
    yield process
    process.close()


@pytest.fixture(scope="module")
def whole(warm, tmp_path_factory):
    """The uninterrupted run: the places it passes, and its files."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    said = warm.train(folder)
    assert said["signal"] == 0
    return said["places"], tree(folder)


@pytest.fixture(scope="module")
def whole_cached(warm, tmp_path_factory):
    """The same with a cache that was empty."""
    folder = tmp_path_factory.mktemp("cached") / "run"
    said = warm.train(folder, cached=True)
    assert said["signal"] == 0
    return said["places"], without_its_cache(tree(folder))


def without_its_cache(files):
    """Where the cache lies is written in the settings alone."""
    return {name: digest for name, digest in files.items() if name not in SAYS_WHERE}


SAYS_WHERE = {"run.json", "config.resolved.yaml"}


def check_kill(warm, folder, die_at, files):
    killed = warm.train(folder, die_at=die_at)
    assert killed["signal"] == 9
    assert tree(folder) != files
    resumed = warm.train(folder, resume=True)
    assert resumed["status"] == 0
    assert tree(folder) == files


@pytest.mark.parametrize(("place", "nth"), add_slow(PLACES, MORE_PLACES))
def test_killed_there_and_resumed_it_ends_with_the_same_files(warm, whole, tmp_path, place, nth):
    places, files = whole
    found = [index for index, passed in enumerate(places) if fnmatch(passed, place)]
    check_kill(warm, tmp_path / "run", found[nth], files)


@pytest.mark.parametrize(("place", "nth"), add_slow(CACHED, MORE_CACHED))
def test_killed_in_the_cache_and_resumed_it_ends_with_the_same_files(
    warm, whole_cached, tmp_path, place, nth
):
    places, files = whole_cached
    found = [index for index, passed in enumerate(places) if fnmatch(passed, place)]
    assert warm.train(tmp_path / "run", die_at=found[nth], cached=True)["signal"] == 9
    resumed = warm.train(tmp_path / "run", resume=True, cached=True)
    assert resumed["status"] == 0
    assert without_its_cache(tree(tmp_path / "run")) == files


@pytest.mark.slow
def test_killed_over_and_over_it_still_gets_there(warm, whole, tmp_path):
    _, files = whole
    kills = 0
    while warm.train(tmp_path / "run", die_at=100, resume=True)["signal"] == 9:
        kills += 1
        assert kills < 40, "it makes no headway"
    assert kills > 3
    assert tree(tmp_path / "run") == files


def test_another_process_makes_the_same_files(whole, tmp_path):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        run(small_config(), tmp_path / "run")
    finally:
        torch.set_num_threads(threads)
    assert tree(tmp_path / "run") == whole[1]


def check_refusal(warm, folder, at, number, files):
    """The disk refuses one operation: the run ends with that error or does without, and can be resumed."""
    refused = warm.train(folder, die_at=at, refusal=number)
    assert refused["signal"] == 0
    assert refused["status"] in (0, 3 << 8)
    resumed = warm.train(folder, resume=True)
    assert resumed["status"] == 0
    assert tree(folder) == files


REFUSED = [("write checkpoints/.step-*/model.safetensors", 1, errno.ENOSPC)]
MORE_REFUSED = [
    ("write checkpoints/.step-*/model.safetensors", 1, errno.EIO),
    ("flush metrics.jsonl", 3, errno.ENOSPC),
    ("flush metrics.jsonl", 3, errno.EIO),
    ("rename to model", 0, errno.ENOSPC),
    ("rename to model", 0, errno.EIO),
]


@pytest.mark.parametrize(("place", "nth", "number"), add_slow(REFUSED, MORE_REFUSED))
def test_refused_there_by_the_disk_and_resumed_it_ends_with_the_same_files(
    warm, whole, tmp_path, place, nth, number
):
    places, files = whole
    found = [index for index, passed in enumerate(places) if fnmatch(passed, place)]
    check_refusal(warm, tmp_path / "run", found[nth], number, files)


@pytest.mark.slow
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_refused_anywhere_by_the_disk_and_resumed_it_ends_with_the_same_files(warm, whole, tmp_path, number):
    places, files = whole
    chosen = [index for index, place in enumerate(places) if place != "step"]
    for index in chosen:
        check_refusal(warm, tmp_path / str(index), index, number, files)
    print(
        f"\ndisk refusals ({errno.errorcode[number]}): attempted {len(chosen)}, held {len(chosen)}, failed 0"
    )


@pytest.mark.slow
def test_killed_anywhere_and_resumed_it_ends_with_the_same_files(warm, whole, tmp_path):
    places, files = whole
    assert len(places) >= 100
    for index in range(len(places) - 1):
        check_kill(warm, tmp_path / str(index), index, files)
    print(f"\nkills: attempted {len(places) - 1}, held {len(places) - 1}, failed 0")
