"""A model folder that was changed is refused, or is a model: never another error, a hang, or scores that are none."""

from __future__ import annotations

import math
import random
import shutil
import signal
from contextlib import contextmanager

import pytest
from model_mutants import mutate

from helpers import tiny_model
from rationalize.errors import ModelFormatError
from rationalize.runs.model_folder import load_model, save_model
from rationalize.types import Example
from tally import Tally

PATIENCE_S = 20


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("originals")
    save_model(folder / "tiny", tiny_model("semi_rat"), "# card\n")
    save_model(folder / "gru", tiny_model("un_rat", encoder={"name": "gru"}), "# card\n")
    return sorted(folder.iterdir())


@contextmanager
def limit_time(seconds):
    def stop(*_):
        raise TimeoutError(f"more than {seconds} s")

    before = [signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, seconds)  # of the processor: others may be using it, too
    signal.alarm(30 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        for number, handler in zip((signal.SIGPROF, signal.SIGALRM), before, strict=True):
            signal.signal(number, handler)


def attempt(folder, done, consistent, tally):
    try:
        with limit_time(PATIENCE_S):
            found = load_model(folder).engine().explain([Example("0", "a truly gripping story, or not")])
            numbers = [value for each in found for value in each.explanation.probabilities.values()]
    except ModelFormatError as error:
        if str(folder) not in str(error):
            tally.fail(f"{done}: names no file: {error}")
        else:
            tally.count("refused")
    except BaseException as error:
        tally.fail(f"{done} ({consistent=}): {type(error).__name__}: {str(error)[:200]}")
    else:
        if not all(map(math.isfinite, numbers)):
            tally.fail(f"{done}: not finite")
        elif not consistent:
            tally.fail(f"{done}: loaded although the manifest does not fit")
        else:
            tally.count("still a model")


def attack(originals, tmp_path, times, seconds, seed):
    tally, rng = Tally("model folders", seconds), random.Random(seed)
    before = [path.read_bytes() for each in originals for path in sorted(each.rglob("*")) if path.is_file()]
    for number in tally.bound(range(times)):
        place = tmp_path / str(number)
        folder = shutil.copytree(rng.choice(originals), place / "model")
        state = sorted(path.read_bytes() for path in folder.rglob("*") if path.is_file())
        done, consistent = mutate(folder, rng)
        same = state == sorted(path.read_bytes() for path in folder.rglob("*") if path.is_file())
        attempt(folder, done, consistent or same, tally)
        shutil.rmtree(place)
    assert before == [p.read_bytes() for each in originals for p in sorted(each.rglob("*")) if p.is_file()]
    return tally


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs an alarm")
def test_some_changed_model_folders(originals, tmp_path):
    attack(originals, tmp_path, 40, 300, seed=1).close(40)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs an alarm")
def test_thousands_of_changed_model_folders(originals, tmp_path):
    attack(originals, tmp_path, 2000, 3600, seed=2).close(2000)
