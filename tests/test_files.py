"""Files: complete or not there at all, whatever happens in between."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from rationalize import files
from rationalize.errors import ModelFormatError
from rationalize.files import (
    MANIFEST,
    atomic_dir,
    json_line,
    manifest_problems,
    read_json,
    remove_folder,
    sha256_of,
    sweep_parts,
    to_json,
    verify_dir,
    write_json,
    write_manifest,
    write_text,
)


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_text_is_written_as_given(tmp_path):
    path = tmp_path / "deep" / "er" / "a.txt"
    write_text(path, "é\r\n\n🎉")
    assert path.read_bytes() == "é\r\n\n🎉".encode()
    write_text(path, "second")
    assert path.read_text() == "second"
    assert names(path.parent) == ["a.txt"]  # nothing temporary is left


def test_a_failed_write_leaves_the_old_text(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def full_disk(_):
        raise OSError("no space left on device")

    monkeypatch.setattr("rationalize.files.sync", full_disk)
    with pytest.raises(OSError, match="no space"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_json_refuses_what_json_cannot_say(tmp_path):
    write_json(tmp_path / "a.json", {"é": [1, None, 0.5]})
    assert read_json(tmp_path / "a.json") == {"é": [1, None, 0.5]}
    assert "é" in (tmp_path / "a.json").read_text(encoding="utf-8")
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="not JSON compliant"):
            to_json({"a": value})
    assert json_line({"a": "x\ny"}) == '{"a": "x\\ny"}\n'


def test_a_folder_appears_whole_with_its_manifest(tmp_path):
    target = tmp_path / "runs" / "model"
    with atomic_dir(target) as part:
        assert not target.exists()
        (part / "sub").mkdir()
        (part / "sub" / "b.bin").write_bytes(b"\x00\x01")
        (part / "a.txt").write_text("hello")
    assert names(target) == [MANIFEST, "a.txt", "sub", "sub/b.bin"]
    digest = hashlib.sha256(b"hello").hexdigest()
    assert read_json(target / MANIFEST)["files"]["a.txt"] == {"sha256": digest, "bytes": 5}
    assert set(read_json(target / MANIFEST)["files"]) == {"a.txt", "sub/b.bin"}
    assert manifest_problems(target) == []
    assert sha256_of(target / "a.txt") == digest
    assert names(tmp_path / "runs") == ["model", *(f"model/{name}" for name in names(target))]


def test_a_failure_inside_keeps_the_old_folder(tmp_path):
    target = tmp_path / "model"
    with atomic_dir(target) as part:
        (part / "a.txt").write_text("old")
    with pytest.raises(TypeError), atomic_dir(target) as part:
        (part / "a.txt").write_text(3)
    assert (target / "a.txt").read_text() == "old"
    assert manifest_problems(target) == []
    assert names(tmp_path) == ["model", "model/MANIFEST.json", "model/a.txt"]


def test_a_refused_rename_keeps_the_old_folder(tmp_path, monkeypatch):
    target, replace = tmp_path / "model", Path.replace
    with atomic_dir(target) as part:
        (part / "a").write_text("old")

    def refuse(path, new):
        if ".part-" in path.name:
            raise OSError(5, "Input/output error", str(path))
        return replace(path, new)

    with pytest.raises(OSError, match="model"), atomic_dir(target) as part:  # noqa: PT012
        (part / "a").write_text("new")
        write_manifest(part)
        monkeypatch.setattr("rationalize.files.write_manifest", lambda folder: None)
        monkeypatch.setattr(Path, "replace", refuse)
    assert (target / "a").read_text() == "old"
    assert names(tmp_path) == ["model", f"model/{MANIFEST}", "model/a"]


def test_a_new_folder_replaces_the_old_one_entirely(tmp_path):
    target = tmp_path / "model"
    for content in ("old", "new"):
        with atomic_dir(target) as part:
            (part / f"{content}.txt").write_text(content)
    assert names(target) == [MANIFEST, "new.txt"]
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_what_the_disk_did_not_let_go_is_in_nobodys_way(tmp_path):
    target, stuck = tmp_path / "model", tmp_path / f".model.old-{os.getpid()}"
    target.mkdir()
    stuck.mkdir()
    (stuck / "a").write_text("older")
    with atomic_dir(target) as part:
        (part / "b").write_text("new")
    assert names(tmp_path) == ["model", f"model/{MANIFEST}", "model/b"]


def test_a_folder_is_gone_though_the_disk_refused_once(tmp_path, monkeypatch):
    folder, unlink = tmp_path / "model", os.unlink
    folder.mkdir()
    (folder / "a").write_text("old")
    refused = []

    def refuse_once(path, **arguments):
        if not refused:
            refused.append(path)
            raise OSError(5, "Input/output error")
        unlink(path, **arguments)

    monkeypatch.setattr(os, "unlink", refuse_once)
    remove_folder(folder)
    assert refused
    assert not folder.exists()


@pytest.fixture
def whole(tmp_path):
    folder = tmp_path / "whole"
    with atomic_dir(folder) as part:
        (part / "a.txt").write_text("hello")
        (part / "b.txt").write_text("world")
    return folder


def flip(path):
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: flip(folder / "a.txt"), "a.txt: content changed"),
        (lambda folder: (folder / "a.txt").unlink(), "a.txt: missing"),
        (lambda folder: (folder / "a.txt").write_text("hell"), "a.txt: 4 bytes, expected 5"),
        (lambda folder: (folder / MANIFEST).unlink(), f"{MANIFEST}: missing"),
        (lambda folder: (folder / MANIFEST).write_text("[]"), f"{MANIFEST}: not a manifest"),
        (lambda folder: (folder / MANIFEST).write_text('{"files'), f"{MANIFEST}: not a manifest"),
        (lambda folder: (folder / MANIFEST).write_text('{"files": {"a": 3}}'), f"{MANIFEST}: not a manifest"),
    ],
)
def test_damage_is_found_and_named(whole, damage, message):
    verify_dir(whole, ModelFormatError, "Copy it again.")
    damage(whole)
    with pytest.raises(ModelFormatError, match=message) as error:
        verify_dir(whole, ModelFormatError, "Copy it again.")
    assert str(error.value).endswith("Copy it again.")


def test_all_damage_is_reported_at_once(whole):
    flip(whole / "a.txt")
    (whole / "b.txt").unlink()
    assert len(manifest_problems(whole)) == 2


def test_many_files_get_a_manifest_too(tmp_path):
    for number in range(120):
        (tmp_path / f"{number}.txt").write_text(str(number))
    write_manifest(tmp_path)
    assert len(json.loads((tmp_path / MANIFEST).read_text())["files"]) == 120
    assert manifest_problems(tmp_path) == []


def test_sweeping_removes_leftovers_and_nothing_else(tmp_path, whole):
    (tmp_path / ".model.part-99").mkdir()
    (tmp_path / ".model.part-99" / "half.bin").write_bytes(b"x")
    (tmp_path / ".a.txt.part-99").write_text("half")
    (tmp_path / "kept.txt").write_text("kept")
    sweep_parts(tmp_path)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["kept.txt", "whole"]


@pytest.mark.parametrize("new_one_is_there", [True, False])
def test_killed_between_the_two_renames(tmp_path, whole, new_one_is_there):
    """The old folder stands aside; it comes back if the new one never took its place."""
    whole.rename(tmp_path / f".model.old-{os.getpid()}")
    if new_one_is_there:
        with atomic_dir(tmp_path / "model") as part:
            (part / "new.txt").write_text("new")
    sweep_parts(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert manifest_problems(tmp_path / "model") == []
    assert (tmp_path / "model" / "new.txt").exists() == new_one_is_there


def test_locks_need_nothing_that_only_some_systems_have():
    """The package is imported where there is no fcntl, and folders cannot be flushed."""
    package = Path(files.__file__).parent
    assert [path for path in package.rglob("*.py") if "fcntl" in path.read_text(encoding="utf-8")] == []
