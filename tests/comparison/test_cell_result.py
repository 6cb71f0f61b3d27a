"""The files that finished cells leave."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_cells import cell

from rationalize.comparison._result_file import check_result, read_result, write_result
from rationalize.errors import ConfigError, DataError

COMMITTED = Path(__file__).parents[2] / "benchmarks" / "results"


@pytest.mark.parametrize(
    "name", ["movies-semi_rat-gold0.25-seed0", "fever-un_rat-seed0", "planted-full_text-seed0"]
)
def test_a_committed_result_is_read_and_written_as_it_is(name, tmp_path):
    given = COMMITTED / f"{name}.json"
    result = read_result(given)
    assert result.cell.key == name
    assert result.results["test"].task_f1_weighted == result.results["test"].metrics["task_f1_weighted"]
    write_result(tmp_path / "again.json", result)
    assert (tmp_path / "again.json").read_bytes() == given.read_bytes()


def test_what_is_written_is_read_again(tmp_path):
    write_result(tmp_path / "cell.json", cell("a", 3))
    assert read_result(tmp_path / "cell.json") == cell("a", 3)


@pytest.mark.parametrize("text", ["{}", "[]", "nonsense", '{"cell": null}'])
def test_what_is_no_result_is_refused(tmp_path, text):
    (tmp_path / "cell.json").write_text(text)
    with pytest.raises(DataError, match="not a cell's result"):
        read_result(tmp_path / "cell.json")


def test_a_result_of_other_data_is_refused_whatever_the_device(tmp_path):
    path = tmp_path / "planted.json"
    path.write_bytes((COMMITTED / "planted-un_rat-seed0.json").read_bytes())
    same = read_result(path).identity
    elsewhere = {**same.config, "training": {**same.config["training"], "device": "cuda"}}
    check_result(path, type(same)(**{**same.to_dict(), "config": elsewhere}))
    with pytest.raises(ConfigError, match="data: was") as error:
        check_result(path, type(same)(**{**same.to_dict(), "data": "other"}))
    assert error.value.fields == ("redo", "out")
