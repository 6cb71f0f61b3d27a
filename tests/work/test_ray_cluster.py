"""What is refused before work starts, and files that travel."""

from __future__ import annotations

import importlib.util
import socket

import pytest
from typer.testing import CliRunner

from imports import list_imported
from rationalize.cli.main import app
from rationalize.errors import ConfigError
from rationalize.work import ray_cluster
from rationalize.work._luggage import bring_home, pack, unpack
from rationalize.work.opening import open_workplace
from rationalize.work.ray_cluster import ClusterNode, RayCluster, join_cluster, parse_place
from rationalize.work.resources import Resources

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="ray is not installed (the extra `ray`)"
)


def test_places():
    assert parse_place("ray") is None
    assert parse_place("ray://head") == "head:6379"
    assert parse_place("ray://10.0.0.1:7000") == "10.0.0.1:7000"
    assert parse_place("ray://[::1]:7000") == "[::1]:7000"
    for wrong in ("slurm", "ray://", "ray://head:port", "http://head:6379", "ray://head:6379/x", ""):
        with pytest.raises(ConfigError, match="expected ray or ray://HOST:PORT") as refused:
            parse_place(wrong)
        assert refused.value.fields == ("on",)


def test_without_ray_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(ray_cluster.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"rationalize\[ray\]"), join_cluster("ray"):
        pass


@needs_ray
def test_an_address_that_does_not_answer(monkeypatch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        for on, named in ((f"ray://127.0.0.1:{port}", ""), ("ray", f"127.0.0.1:{port}")):
            monkeypatch.setenv("RAY_ADDRESS", named)
            with pytest.raises(ConfigError, match=f"nobody answers at 127.0.0.1:{port}"), join_cluster(on):
                pass
        monkeypatch.setattr(ray_cluster, "HEALTH_S", 0.1)
        closed.listen()  # now somebody does, but not Ray
        with (
            pytest.raises(ConfigError, match="not the head of a Ray cluster"),
            join_cluster(f"ray://127.0.0.1:{port}"),
        ):
            pass


def test_a_cluster_and_jobs_are_refused(tmp_path):
    with (
        pytest.raises(ConfigError, match="Give one of them") as refused,
        open_workplace("ray", 2, Resources(), tmp_path),
    ):
        pass
    assert refused.value.fields == ("jobs", "on")


@pytest.mark.parametrize(
    ("wanted", "times", "fits"),
    [
        (Resources(cpus=4), 1, True),
        (Resources(cpus=5), 1, False),  # the cluster has six, but no node has five
        (Resources(gpus=1), 2, True),
        (Resources(gpus=1), 3, False),
        (Resources(gpus=0.5), 4, True),
        (Resources(cpus=2), 3, True),
        (Resources(cpus=2), 4, False),
    ],
)
def test_more_than_a_cluster_has_is_refused(wanted, times, fits):
    cluster = RayCluster(None, (ClusterNode("1", "one", 2, 0), ClusterNode("2", "two", 4, 2)))
    if fits:
        cluster.require(wanted, times)
        return
    with pytest.raises(ConfigError, match=r"two: 4 CPU, 2 GPU"):
        cluster.require(wanted, times)


def test_the_command_names_its_flag_and_leaves_nothing(tmp_path):
    words = ["compare", "--method", "un_rat", "--data", "toy=planted", "--out", str(tmp_path / "out")]
    refused = CliRunner().invoke(app, [*words, "--on", "slurm"])
    assert isinstance(refused.exception, ConfigError)
    assert not (tmp_path / "out").exists()


def test_ray_is_imported_late():
    assert list_imported("import rationalize.cli.main, rationalize.work.opening", "ray") == []


def test_files_travel_there_and_back(tmp_path):
    home, there = tmp_path / "home", tmp_path / "there"
    files = {name: home / "deep" / name for name in ("run", "made", "clock.json", "result.json")}
    (home / "deep" / "run").mkdir(parents=True)
    (home / "deep" / "run" / "old.txt").write_text("old")
    (home / "deep" / "run" / ".lock").touch()
    files["clock.json"].write_text("1")
    there.mkdir()
    unpack(pack(files), there)
    assert not (there / "run" / ".lock").exists()
    (there / "run" / "old.txt").rename(there / "run" / "new.txt")
    (there / "clock.json").unlink()
    (there / "made").mkdir()
    (there / "result.json").write_text("done")
    scratch = home / ".scratch"
    scratch.mkdir()
    bring_home(pack({name: there / name for name in files}), files, scratch)
    found = {str(path.relative_to(home / "deep")) for path in (home / "deep").rglob("*")}
    assert found == {"run", "run/new.txt", "made", "result.json"}
    assert (files["run"] / "new.txt").read_text() == "old"
