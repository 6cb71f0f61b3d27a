from __future__ import annotations

import errno
import gzip
import io
import os
import shutil
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from rationalize.data.archives import MAX_DEPTH, Limits, unpack
from rationalize.errors import DataError
from searches import search

GOOD = {
    "movies/train.jsonl": b'{"a": 1}\n',
    "movies/docs/d\u00e9j\u00e0:1": b"text",
    "movies/docs/empty": b"",
}


def tar_gz(path: Path, *members: tuple[tarfile.TarInfo, bytes], **kwargs) -> Path:
    with tarfile.open(path, "w:gz", **kwargs) as tar:
        for info, content in members:
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def plain(name: str, content: bytes = b"x", **fields) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def good_tar(path: Path) -> Path:
    return tar_gz(path, *(plain(name, content) for name, content in GOOD.items()))


def good_zip(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in GOOD.items():
            file.writestr(name, content)
    return path


def tree(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    return made


@pytest.mark.parametrize("make", [good_tar, good_zip])
def test_a_single_top_folder_is_stripped(make, tmp_path, folder):
    contents = unpack(make(tmp_path / "misleading.name"), folder)
    assert tree(folder) == {name.removeprefix("movies/"): content for name, content in GOOD.items()}
    assert (contents.files, contents.total_bytes, contents.skipped) == (3, 13, 0)
    assert sorted(entry.name for entry in folder.iterdir()) == ["docs", "train.jsonl"]


def test_several_top_entries_stay_as_they_are(tmp_path, folder):
    unpack(tar_gz(tmp_path / "a", plain("./docs/1"), plain("train.jsonl")), folder)
    assert set(tree(folder)) == {"docs/1", "train.jsonl"}


def test_the_litter_of_macos_is_left_out_and_counted(tmp_path, folder):
    members = [
        plain("._movies"),
        plain("movies/._train.jsonl"),
        plain("movies/train.jsonl"),
        plain("__MACOSX/x"),
    ]
    assert unpack(tar_gz(tmp_path / "a", *members), folder).skipped == 3
    assert set(tree(folder)) == {"train.jsonl"}


def test_file_modes_are_not_taken_over(tmp_path, folder):
    unpack(tar_gz(tmp_path / "a", plain("x", mode=0o6777), plain("y")), folder)
    assert stat.S_IMODE((folder / "x").stat().st_mode) & 0o7111 == 0


LINK = {"linkname": "/etc/passwd"}
EVIL = {
    "leads out": plain("movies/../../evil"),
    "leads out with backslashes": plain("movies\\..\\..\\evil"),
    "absolute": plain("/evil"),
    "absolute on Windows": plain("C:\\evil"),
    "symbolic link": plain("movies/x", b"", type=tarfile.SYMTYPE, **LINK),
    "hard link": plain("movies/x", b"", type=tarfile.LNKTYPE, **LINK),
    "character device": plain("movies/x", b"", type=tarfile.CHRTYPE),
    "block device": plain("movies/x", b"", type=tarfile.BLKTYPE),
    "sparse file": plain("movies/x", b"", type=tarfile.GNUTYPE_SPARSE),
    "pipe": plain("movies/x", b"", type=tarfile.FIFOTYPE),
    "twice": plain("movies/train.jsonl"),
    "twice, spelled differently": plain("movies/./train.jsonl"),
    "file for folder": plain("movies"),
    "folder for file": plain("movies/train.jsonl/x"),
    "deep": plain("/".join(["movies"] * (MAX_DEPTH + 1))),
    "no name": plain("./"),
    "not Unicode": plain("movies/\udcff"),
}


@pytest.mark.parametrize("evil", EVIL.values(), ids=EVIL)
def test_an_evil_tar_member_is_refused_and_named(evil, tmp_path, folder):
    archive = tar_gz(tmp_path / "evil.tar.gz", plain("movies/train.jsonl"), evil)
    with pytest.raises(DataError, match="member ") as caught:
        unpack(archive, folder)
    assert str(archive) in str(caught.value)
    assert {entry.name for entry in tmp_path.iterdir()} == {"evil.tar.gz", "folder"}
    assert list(folder.iterdir()) == []


def zip_member(name: str, mode: int = stat.S_IFREG) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


EVIL_ZIP = {
    "leads out": zip_member("../evil"),
    "absolute": zip_member("/evil"),
    "symbolic link": zip_member("x", stat.S_IFLNK),
    "device": zip_member("x", stat.S_IFBLK),
    "twice": zip_member("train.jsonl"),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("evil", EVIL_ZIP.values(), ids=EVIL_ZIP)
def test_an_evil_zip_member_is_refused(evil, tmp_path, folder):
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as file:
        file.writestr("train.jsonl", "x")
        file.writestr(evil, "/etc/passwd")
    with pytest.raises(DataError, match="member "):
        unpack(tmp_path / "evil.zip", folder)
    assert {entry.name for entry in tmp_path.iterdir()} == {"evil.zip", "folder"}
    assert list(folder.iterdir()) == []


def test_a_zip_under_a_password_is_refused(tmp_path, folder):
    data = bytearray(good_zip(tmp_path / "a.zip").read_bytes())
    for signature, flags_at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + flags_at] |= 1
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(DataError, match="under a password"):
        unpack(tmp_path / "a.zip", folder)


def bomb_tar(path: Path) -> Path:
    return tar_gz(path, plain("x", bytes(2_000_000)))


def bomb_zip(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for number in range(4):
            file.writestr(str(number), bytes(500_000))
    return path


@pytest.mark.parametrize("make", [bomb_tar, bomb_zip])
def test_a_bomb_is_refused_before_it_fills_the_disk(make, tmp_path, folder):
    archive = make(tmp_path / "bomb")
    assert archive.stat().st_size < 10_000
    with pytest.raises(DataError, match="1,000,000 bytes"):
        unpack(archive, folder, Limits(total_bytes=1_000_000))
    assert list(folder.iterdir()) == []


def test_a_bomb_behind_the_end_of_the_tar_is_refused(tmp_path, folder):
    archive = tmp_path / "bomb"
    archive.write_bytes(good_tar(archive).read_bytes() + gzip.compress(bytes(3_000_000)))
    with pytest.raises(DataError, match="1,500,000 bytes"):
        unpack(archive, folder, Limits(total_bytes=1_500_000))


@pytest.mark.parametrize("size", [50_000_000, -512])
def test_a_header_of_monstrous_length_is_not_read_into_memory(size, tmp_path, folder):
    info = tarfile.TarInfo("long")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, size
    (tmp_path / "bomb").write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(max(size, 0))))
    with pytest.raises(DataError, match="impossible length"):
        unpack(tmp_path / "bomb", folder)


def test_a_negative_size_is_refused(tmp_path, folder):
    info = tarfile.TarInfo("x")
    info.size = -1024
    (tmp_path / "a").write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(1024)))
    with pytest.raises(DataError, match="damaged name or size"):
        unpack(tmp_path / "a", folder)


@pytest.mark.parametrize("make", [good_tar, good_zip])
def test_more_members_than_allowed_are_refused(make, tmp_path, folder):
    archive = make(tmp_path / "a")
    unpack(archive, folder, Limits(members=3))
    with pytest.raises(DataError, match="2 members"):
        unpack(archive, folder, Limits(members=2))


def test_a_web_page_is_no_archive(tmp_path, folder):
    (tmp_path / "a.tar.gz").write_bytes(b"<!DOCTYPE html><html>")
    with pytest.raises(DataError, match="DOCTYPE"):
        unpack(tmp_path / "a.tar.gz", folder)


def test_an_archive_without_files_is_refused(tmp_path, folder):
    with pytest.raises(DataError, match="no files"):
        unpack(tar_gz(tmp_path / "a", plain("movies", b"", type=tarfile.DIRTYPE)), folder)


def test_a_broken_header_in_the_middle_is_not_taken_for_the_end(tmp_path, folder):
    data = bytearray(gzip.decompress(good_tar(tmp_path / "a").read_bytes()))
    data[1024] ^= 1  # the second member's name: its header's checksum is now wrong
    (tmp_path / "a").write_bytes(gzip.compress(bytes(data)))
    with pytest.raises(DataError, match="damaged"):
        unpack(tmp_path / "a", folder)


@pytest.mark.parametrize("name", ["x" * 256, "movies/" + "é" * 128, "y" * 5000 + "/x"])
def test_a_name_longer_than_disks_take_is_refused(name, tmp_path, folder):
    unpack(tar_gz(tmp_path / "a", plain("é" * 127 + "x")), folder)  # 255 bytes: just fits
    with pytest.raises(DataError, match=r"member .* has a name of [\d,]+ bytes; at most 255") as caught:
        unpack(tar_gz(tmp_path / "a", plain("first"), plain(name)), folder)
    assert len(str(caught.value)) < 500
    assert len(list(folder.iterdir())) == 1


def test_a_path_longer_than_disks_take_is_refused(tmp_path, folder):
    with pytest.raises(DataError, match=r"member 'xx.*…' has a path too long"):
        unpack(tar_gz(tmp_path / "a", plain("/".join(["x" * 200] * 30))), folder)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_trouble_with_the_disk_is_not_blamed_on_the_archive(number, tmp_path, folder, monkeypatch):
    archive = good_tar(tmp_path / "a")

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(shutil, "copyfileobj", refuse)
    with pytest.raises(DataError) as caught:
        unpack(archive, folder)
    assert str(caught.value).startswith(f"{folder}: {os.strerror(number)}. ")
    assert str(caught.value).endswith(f"Nothing of {archive} was unpacked.")
    assert list(folder.iterdir()) == []


def test_what_was_moved_already_goes_when_the_rest_cannot_follow(tmp_path, folder):
    (folder / "z").mkdir()
    (folder / "z" / "mine").touch()
    with pytest.raises(DataError, match="Nothing of"):
        unpack(tar_gz(tmp_path / "a", plain("a"), plain("b"), plain("z/yours")), folder)
    assert set(tree(folder)) == {"z/mine"}


@pytest.mark.parametrize("make", [good_tar, good_zip])
@search(80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_archive_is_a_data_error_or_still_right(make, data, tmp_path):
    content = bytearray(make(tmp_path / "a").read_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content))) :]
    else:
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    (tmp_path / "a").write_bytes(content)
    folder = tmp_path / os.urandom(8).hex()
    folder.mkdir()
    try:
        unpack(tmp_path / "a", folder)
    except DataError:
        assert list(folder.iterdir()) == []
        return
    if make is good_tar:  # a zip has no checksum over its names
        assert tree(folder) == {name.removeprefix("movies/"): text for name, text in GOOD.items()}
