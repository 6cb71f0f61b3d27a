"""Which archive is trusted, and how a named data set is reached."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import tarfile
from pathlib import Path

import pytest
from scripted_server import Server, status, whole

from rationalize.data import archives, catalog
from rationalize.data.catalog import NAMED, OFFICIAL_URL, find_source, get_data
from rationalize.data.fetch import Patience, Watcher
from rationalize.errors import ConfigError, DataError
from rationalize.files import read_json


def pack(text: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        info = tarfile.TarInfo("movies/train.jsonl")
        info.size = len(text)
        tar.addfile(info, io.BytesIO(text))
    return packed.getvalue()


OLD, NEW = pack(b"old"), pack(b"new")


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Scribe(Watcher):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def get(source, **changes):
    patience = Patience(attempts=2, timeout_s=5, sleep=lambda _: None)
    return get_data(source, **{"patience": patience, **changes})


def left(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []


def test_the_official_archives_are_reached_encrypted_and_known_where_somebody_recorded_them():
    for base_url in (OFFICIAL_URL, f"{OFFICIAL_URL}/", OFFICIAL_URL.replace("https", "http")):
        found = {name: find_source(name, base_url) for name in NAMED}
        assert {source.place for source in found.values()} == {
            f"{OFFICIAL_URL}/{name}.tar.gz" for name in NAMED
        }
        assert {name for name, source in found.items() if source.sha256} == {"movies", "multirc"}
    other = find_source("movies", "https://mirror.example/eraser")
    assert (other.place, other.sha256) == ("https://mirror.example/eraser/movies.tar.gz", None)
    assert other.unencrypted is None


@pytest.fixture
def official(server, monkeypatch) -> Server:
    """The official server, without https: a TLS greeting gets no sensible answer from it."""
    base_url = server.url.replace("http:", "https:").removesuffix("/movies.tar.gz")
    monkeypatch.setattr(catalog, "OFFICIAL_URL", base_url)
    monkeypatch.setattr(catalog, "PINNED", {"movies": digest(OLD)})
    return server


def test_a_known_archive_may_come_unencrypted_if_https_gives_nothing(official, here):
    official.answers = [whole(body=OLD)]
    scribe = Scribe()
    folder = get(find_source("movies", catalog.OFFICIAL_URL), watcher=scribe)
    assert (folder.record["source"], folder.record["trust"]) == (official.url, "pinned")
    assert "tried unencrypted" in scribe.notes[0]
    assert left(here / "data") == ["movies"]


def test_an_archive_that_is_not_the_known_one_is_refused(official, here):
    official.answers = [whole(body=NEW)]
    source = find_source("movies", catalog.OFFICIAL_URL)
    with pytest.raises(DataError, match=f"is {digest(NEW)}, the official archive has {digest(OLD)}"):
        get(source)
    assert left(here / "data") == []
    assert get(source, sha256=digest(NEW)).record["trust"] == "given"  # the user knows better


def test_an_unknown_archive_never_comes_unencrypted_by_its_name(official, here):
    official.answers = [whole(body=OLD)]
    source = find_source("boolq", catalog.OFFICIAL_URL)
    with pytest.raises(DataError, match="not tried unencrypted, as no SHA-256 of it is known"):
        get(source)
    assert official.requests == []
    assert get(source, sha256=digest(OLD)).record["source"].startswith("http://")


def test_an_unencrypted_download_that_was_cut_goes_on(official):
    official.answers = [
        lambda handler: handler.wfile.write(
            b'HTTP/1.1 200 OK\r\nETag: "1"\r\nContent-Length: %d\r\n\r\n%s' % (len(OLD), OLD[:50])
        ),
        status(404),
    ]
    source = find_source("movies", catalog.OFFICIAL_URL)
    with pytest.raises(DataError, match="404"):
        get(source)
    official.answers = [whole(body=OLD)]
    assert get(source).record["source"] == official.url
    assert official.ranges == [None, "bytes=50-", "bytes=50-"]


def test_what_an_address_gave_first_is_expected_the_next_time(server, here):
    server.answers = [whole(body=OLD)]
    source = find_source(f"{server.url}?key=one")
    scribe = Scribe()
    assert get(source, watcher=scribe).record["trust"] == "first use"
    assert digest(OLD) in scribe.notes[0]
    assert get(source, force=True).record["trust"] == "as before"
    server.answers = [whole(body=NEW)]
    with pytest.raises(
        DataError, match=f"is {digest(NEW)}, the one fetched from there before had {digest(OLD)}"
    ):
        get(find_source(f"{server.url}?key=two"), force=True)
    assert (here / "data/movies/train.jsonl").read_bytes() == b"old"
    assert left(here / "data") == ["movies"]
    get(source, force=True, sha256=digest(NEW))
    assert read_json(here / "data/movies/SOURCE.json")["sha256"] == digest(NEW)


def test_another_address_is_another_first_use(server):
    server.answers = [whole(body=OLD)]
    get(find_source(server.url))
    server.answers = [whole(body=NEW)]
    other = find_source(server.url.replace("movies", "other"))
    assert get(other, out=Path("data/movies"), force=True).record["trust"] == "first use"


def test_a_disk_that_is_full_while_unpacking_leaves_nothing(server, here, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    server.answers = [whole(body=OLD)]
    for place, name in ((archives.shutil, "copyfileobj"), (catalog, "write_json")):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, full)
            with pytest.raises(DataError, match=r"^\S+: No space left on device\. "):
                get(find_source(server.url))
        assert left(here / "data") == []


@pytest.mark.parametrize("name", ["x" * 5000, "y" * 300 + ".zip"])
def test_a_name_that_no_disk_takes_is_one_sentence(name, server):
    with pytest.raises(DataError, match="File name too long") as caught:
        find_source(name)
    assert len(str(caught.value)) < 600
    server.answers = [whole(body=OLD)]
    with pytest.raises(DataError, match="File name too long"):
        get(find_source(server.url), out=Path(name))
    with pytest.raises(DataError, match="File name too long"):
        get(find_source(server.url.replace("movies", name)))


def test_a_password_is_not_repeated():
    for url in (
        "http://me:word@host/x.zip",
        "ftp://me:word@host/x",
        "http://me:word#x@host/",
        "http://[me:word",
    ):
        with pytest.raises(ConfigError) as caught:
            find_source(url)
        assert "me:word" not in str(caught.value)
