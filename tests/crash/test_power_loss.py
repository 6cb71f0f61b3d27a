"""The power fails: what was not flushed is gone. Work is continued or begun anew, and ends with the same files."""

from __future__ import annotations

import pickle
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from families import SIX
from power_loss import Disk, list_losses, write_left
from test_kill_points import spread

from tally import Tally


def record(bench, family):
    """The operations of undisturbed work, with their bytes, and what is on the real disk afterwards."""
    root = bench.place()
    trace = Path(f"{root}.trace")
    assert bench.warm.run(family, root, trace=str(trace)).code == 0
    steps = pickle.loads(trace.read_bytes())
    found = {
        path.relative_to(root).as_posix(): path.read_bytes() if path.is_file() else None
        for path in root.rglob("*")
    }
    shutil.rmtree(root)
    return str(root), steps, found


def lose_power(bench, family, recorded, wanted, seconds):
    tally = Tally(f"power loss, {family}", seconds)
    root, steps, _ = recorded
    losses = list(list_losses(steps, root, seed=1))
    for index in tally.bound(spread(len(losses), wanted)):
        what, left = losses[index]
        # The folder has the name that it had, since settings may hold it.
        place = Path(root)
        write_left(left, place)
        begun = any(name.endswith("run.json") for name in left)
        problem = bench.finish(family, place)
        tally.fail(f"{family}, {what}: {problem}") if problem else tally.count(
            "continued" if begun else "begun anew"
        )
        shutil.rmtree(place)
    return tally


def check_record(recorded):
    """Nothing was written that the record does not know, and what is finished is certain."""
    root, steps, found = recorded
    disk = Disk(root)
    for step in steps:
        disk.do(step)
    assert disk.lose("none", random.Random(0)) == found
    certain = disk.lose("all", random.Random(0))
    lost = {
        name
        for name in found
        if certain.get(name, b"") != found[name] and not name.rsplit("/", 1)[-1].startswith(".")
    }
    assert lost == set()


def test_what_was_written_is_certain(tmp_path):
    """Folders that had to be made on the way, too."""
    root = tmp_path / "root"
    root.mkdir()
    script = f"""
import pickle, sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
from file_layer import FileLayer
from rationalize.files import atomic_dir, write_text
from rationalize.locks import hold_folder
done, root = [], Path({str(root)!r})
layer = FileLayer(root, done.append)
layer.install(native=False)
with hold_folder(root / "a" / "run"):
    write_text(root / "a" / "run" / "deep" / "er" / "file", "x")
    for text in ("one", "two"):
        with atomic_dir(root / "a" / "run" / "folders" / "best") as part:
            (part / "sub").mkdir()
            (part / "sub" / "weights").write_text(text)
(root.parent / "trace").write_bytes(pickle.dumps([each.strip() for each in done]))
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    disk = Disk(str(root))
    for step in pickle.loads((tmp_path / "trace").read_bytes()):
        disk.do(step)
    certain = disk.lose("all", random.Random(0))
    assert certain["a/run/deep/er/file"] == b"x"
    assert certain["a/run/folders/best/sub/weights"] == b"two"
    assert "a/run/folders/best/MANIFEST.json" in certain
    assert "a/run/.holder.json" not in certain  # it was removed, and stays so


@pytest.mark.slow
@pytest.mark.parametrize("family", [*SIX, "cached"])
def test_the_power_fails_after_any_operation(bench, family):
    recorded = record(bench, family)
    check_record(recorded)
    lose_power(bench, family, recorded, 200, 3600).close(100)
