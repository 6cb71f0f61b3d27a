from __future__ import annotations

import contextlib
import functools
import io
import json
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from rationalize.cli.data_get import get
from rationalize.cli.main import find_flags
from rationalize.data.catalog import NAMED, read_recorded_name
from rationalize.errors import ConfigError, DataError
from rationalize.files import manifest_problems, sha256_of
from rationalize.locks import try_lock

app = typer.Typer()
app.command()(get)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def done(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exception is None, result.output
    return result.stdout


def error(*arguments: object) -> Exception:
    result = run(*arguments)
    assert isinstance(result.exception, (ConfigError, DataError)), result.output
    return result.exception


def archive(path: Path, *names: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as tar:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = len(name)
            tar.addfile(info, io.BytesIO(name.encode()))
    return path


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("RATIONALIZE_DATA_URL", raising=False)
    return tmp_path


@pytest.fixture
def movies(here: Path) -> Path:
    return archive(here / "site" / "zipped" / "movies.tar.gz", "movies/train.jsonl", "movies/docs/1")


@pytest.fixture
def base_url(here: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=here / "site")) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}/zipped"
        http.shutdown()
        thread.join()


def left(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_named_data_set_lands_in_its_folder(here, movies, base_url):
    said = done("movies", "--base-url", base_url + "/")
    assert (here / "data/movies/train.jsonl").read_text() == "movies/train.jsonl"
    assert left(here / "data") == ["movies"]
    assert left(here / "data/movies") == ["MANIFEST.json", "SOURCE.json", "docs", "train.jsonl"]
    assert manifest_problems(here / "data/movies") == []
    assert sha256_of(movies) in said
    assert said.endswith("next: rationalize data check data/movies\n")
    assert json.loads((here / "data/movies/SOURCE.json").read_text()) == {
        "name": "movies",
        "source": f"{base_url}/movies.tar.gz",
        "sha256": sha256_of(movies),
        "trust": "first use",
        "bytes": movies.stat().st_size,
        "members": 2,
        "unpacked_bytes": 31,
        "skipped": 0,
    }


def test_which_data_set_it_is_is_known_only_where_it_was_asked_for_by_name(here, movies, base_url):
    done("movies", "--base-url", base_url)
    done(str(movies), "--out", "fever")
    (here / "data/movies").rename(here / "boolq")
    assert [read_recorded_name(here / folder) for folder in ("boolq", "fever", "gone")] == [
        "movies",
        None,
        None,
    ]


def test_the_base_address_comes_from_the_environment_too(here, movies, base_url, monkeypatch):
    monkeypatch.setenv("RATIONALIZE_DATA_URL", base_url)
    done("movies")
    assert (here / "data/movies/docs/1").is_file()


def test_an_address_and_json(here, movies, base_url):
    outcome = json.loads(done(f"{base_url}/movies.tar.gz?key=secret", "--out", "my data", "--json"))
    assert outcome["folder"] == "my data"
    assert outcome["fetched"] is True
    assert outcome["next"] == "rationalize data check 'my data'"
    assert outcome["source"] == f"{base_url}/movies.tar.gz"
    assert (here / "my data/train.jsonl").is_file()


def test_a_file_stays_where_it_is(here, movies):
    done(movies, "--sha256", sha256_of(movies).upper())
    assert (here / "data/movies/train.jsonl").is_file()
    assert movies.is_file()


def test_an_existing_folder_is_left_alone_unless_forced(here, movies):
    done(movies)
    mark = here / "data/movies/mark"
    mark.touch()
    assert "exists already" in done(movies)
    assert json.loads(done(movies, "--json"))["fetched"] is False
    assert mark.exists()
    done(movies, "--force")
    assert not mark.exists()
    assert left(here / "data") == ["movies"]


def test_a_linked_folder_is_replaced_at_its_real_place(here, movies):
    done(movies, "--out", "disk/movies")
    (here / "link").symlink_to("disk/movies")
    done(movies, "--out", "link", "--force")
    assert (here / "link").is_symlink()
    assert left(here / "disk") == ["movies"]


def test_force_replaces_only_what_this_command_made(here, movies):
    mine = here / "mine" / "thesis.tex"
    mine.parent.mkdir()
    mine.touch()
    assert "is left alone" in str(error(movies, "--out", "mine", "--force"))
    assert "exists already" in done(movies, "--out", "mine")
    assert mine.exists()


def test_an_existing_folder_from_another_archive_is_not_passed_off(movies):
    done(movies)
    assert "Replace it (force)" in str(error(movies, "--sha256", "0" * 64))


def test_a_wrong_sha256_names_both_and_removes_the_download(here, movies, base_url):
    message = str(error("movies", "--base-url", base_url, "--sha256", "0" * 64))
    assert "0" * 64 in message
    assert sha256_of(movies) in message
    assert left(here / "data") == []
    assert "0" * 64 in str(error(movies, "--sha256", "0" * 64))
    assert movies.is_file()


@pytest.mark.parametrize("names", [("movies/../../evil",), ("a", "a")])
def test_a_bad_archive_leaves_nothing(names, here, base_url):
    archive(here / "site/zipped/movies.tar.gz", *names)
    assert "member" in str(error("movies", "--base-url", base_url))
    assert left(here / "data") == []
    assert left(here) == ["data", "site"]


def test_an_unknown_name_lists_the_known_ones():
    message = str(error("moveis"))
    assert "'moveis'" in message
    assert all(name in message for name in NAMED)


@pytest.mark.parametrize(
    "address", ["ftp://a/x.zip", "file:///etc/passwd", "http://", "http://[x/y", "http://a:b@c/d"]
)
def test_an_address_of_another_kind_is_refused(address):
    assert isinstance(error(address), ConfigError)


def test_a_malformed_sha256_is_refused(movies):
    assert "64 hexadecimal" in str(error(movies, "--sha256", "abc"))


@pytest.mark.parametrize("out", [".", "/", ".."])
def test_out_must_name_a_folder_to_make(out, movies):
    assert "folder to make" in str(error(movies, "--out", out))


def test_trouble_with_the_disk_is_reported_without_a_traceback(here, movies):
    (here / "data").write_text("in the way")
    assert str(error(movies)).startswith("data")


def test_the_limit_on_members_is_a_setting(movies):
    failure = error(movies, "--max-members", "1")
    assert "more than 1 members" in str(failure)
    assert find_flags(failure, ["data", "get"]) == ["--max-members"]


@contextlib.contextmanager
def answering(handler):
    """The address of a server on this machine that answers so."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_port}"
        finally:
            http.shutdown()
            thread.join()


@pytest.mark.slow
def test_the_deadline_is_a_setting(here):
    class Dripping(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("ETag", '"1"')
            self.end_headers()
            with contextlib.suppress(OSError):
                for _ in range(100):
                    self.wfile.write(b"x")
                    time.sleep(0.1)

        def log_message(self, *args: object) -> None:
            pass

    with answering(Dripping) as address:
        failure = error(f"{address}/movies.zip", "--deadline-s", "1")
    assert "not here within 1 seconds" in str(failure)
    assert "bytes are kept in data/movies.part" in str(failure)
    assert find_flags(failure, ["data", "get"]) == ["--deadline-s"]


def test_leftovers_of_killed_runs_go_and_those_of_a_living_one_stay(here, movies):
    for name in (".movies.part-1", ".movies.part-2", ".other.part-1"):
        (here / "data" / name).mkdir(parents=True)
    with try_lock(here / "data" / ".movies.lock"):  # as a living one holds it
        assert "another process is writing" in str(error(movies))
        assert {".movies.part-1", ".movies.part-2"} < set(left(here / "data"))
    done(movies)
    assert left(here / "data") == [".other.part-1", "movies"]


def test_a_folder_lost_between_two_renames_is_found_again(here, movies):
    done(movies)
    (here / "data/movies").rename(here / "data/.movies.old-1")
    assert "exists already" in done(movies)


# A process started in the background ignores Ctrl-C; the child must not inherit that.
CHILD = """
import signal, typer
signal.signal(signal.SIGINT, signal.default_int_handler)
from rationalize.cli.data_get import get
typer.run(get)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_download_leaves_a_part_that_the_next_one_continues(how, here, movies, monkeypatch):
    body = movies.read_bytes()
    half = len(body) // 2
    arrived, ranges = threading.Event(), []

    class Stalling(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            ranges.append(self.headers.get("Range"))
            self.send_response(206 if ranges[-1] else 200)
            self.send_header("ETag", '"1"')
            start = half if ranges[-1] else 0
            self.send_header("Content-Length", str(len(body) - start))
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            self.end_headers()
            self.wfile.write(body[start:] if start else body[:half])
            if not start:
                arrived.wait(30)

        def log_message(self, *args: object) -> None:
            pass

    with answering(Stalling) as place:
        address = f"{place}/movies.tgz"
        child = subprocess.Popen([sys.executable, "-c", CHILD, address], stderr=subprocess.PIPE, text=True)
        assert child.stderr is not None
        line = child.stderr.readline()  # progress: the first half is on disk
        child.send_signal(how)
        child.communicate()
        arrived.set()
        kept = left(here / "data")
        again = run(address)
    assert f"{half:,} of {len(body):,}" in line
    # A killed process also leaves the mark of its lock, which the next one takes.
    assert [name for name in kept if name != ".movies.lock"] == [
        ".movies.part.lock",
        "movies.part",
        "movies.part.json",
    ]
    assert again.exception is None, again.output
    assert ranges == [None, f"bytes={half}-"]
    assert left(here / "data") == ["movies"]
