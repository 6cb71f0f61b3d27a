"""Fetch one file over HTTP: continued where it stopped, retried when cut, hashed as it arrives.

What has arrived lies in a `.part` file that outlives the process. It is continued only if the server vouches
(ETag or Last-Modified) that it still holds the same version; otherwise it is begun anew.
"""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException, HTTPResponse, InvalidURL
from itertools import chain
from urllib.error import URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import Request

from rationalize.data._disk_errors import make_disk_error
from rationalize.data.bounded_http import Deadline, describe_failure, name_status, open_url
from rationalize.data.part_file import CHUNK_BYTES, PartFile, strip_secrets
from rationalize.errors import DataError
from rationalize.version import __version__

MOST_REDIRECTS = 5
_OTHER_WAYS = (
    "Check the address and the network. Another server for the named data sets is given as base_url; "
    "an archive that you have already, by its path."
)
_LENGTH = re.compile(r"[0-9]{1,18}")
_CONTENT_RANGE = re.compile(r"bytes (?:(?P<start>[0-9]{1,18})-[0-9]+|\*)/(?P<total>[0-9]{1,18}|\*)")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Patience:
    """How long and how often to try; the pause doubles after every failure.

    Attributes:
        attempts: How often to try.
        timeout_s: The longest silence of a server that sends a file; for a language model, the longest time for
            one answer as a whole.
        first_pause_s: The pause after the first failure.
        longest_pause_s: No pause is longer.
        deadline_s: The longest time for everything together, attempts and pauses: for one file, or one question.
        sleep: Makes the pauses.
    """

    attempts: int = 5
    timeout_s: float = 30.0
    first_pause_s: float = 1.0
    longest_pause_s: float = 60.0
    deadline_s: float = 3600.0
    sleep: Callable[[float], None] = time.sleep

    def pause_s(self, failures: int, asked_s: float = 0.0) -> float:
        """Return the pause after so many failures; the server may ask for more."""
        return min(self.longest_pause_s, max(asked_s, self.first_pause_s * 2.0 ** (failures - 1)))


class Watcher:
    """Gets a download's progress; this one shows nothing."""

    def progress(self, done: int, total: int | None) -> None:
        """So many bytes are here, of so many (None: the server does not say)."""

    def note(self, text: str) -> None:
        """Something worth a line has happened."""


class _Passing(Exception):
    """A failure that may not come again."""

    def __init__(self, reason: str, pause_s: float = 0.0) -> None:
        super().__init__(reason)
        self.pause_s = pause_s


def download(
    url: str,
    part: PartFile,
    *,
    max_bytes: int,
    patience: Patience | None = None,
    deadline: Deadline | None = None,
    watcher: Watcher | None = None,
) -> None:
    """Bring the part file to completion.

    Args:
        url: Where the file is.
        part: Takes what arrives.
        max_bytes: More is refused.
        patience: Time-outs and retries.
        deadline: When to give up at the latest; None: `patience.deadline_s` from now.
        watcher: Hears how it goes.

    Raises:
        DataError: If the server refuses, sends too much, leads elsewhere, fails too often or takes too long; what
            arrived is kept if it can be continued. If the disk refuses; then nothing is kept.
    """
    patience, watcher = patience or Patience(), watcher or Watcher()
    deadline = deadline or Deadline(patience.deadline_s)
    shown = strip_secrets(url)
    for attempt in range(1, patience.attempts + 1):
        try:
            return _transfer(url, part, max_bytes, patience.timeout_s, deadline, watcher)
        except _Passing as failure:
            pause_s = patience.pause_s(attempt, failure.pause_s)
            if deadline.left_s <= pause_s:
                raise DataError(
                    f"{shown}: not here within {patience.deadline_s:g} seconds, the limit (patience.deadline_s): "
                    f"{failure}. {_describe_kept(part)}",
                    field="patience.deadline_s",
                ) from failure
            if attempt == patience.attempts:
                raise DataError(
                    f"{shown}: given up after {attempt} attempts: {failure}. {_describe_kept(part)}"
                ) from failure
            watcher.note(f"{shown}: {failure}; trying again in {pause_s:g} s")
            patience.sleep(pause_s)
        except OSError as error:  # the network's own errors have been converted by now
            part.remove()
            raise make_disk_error(error, part.path, "Nothing of the download was kept.") from error
        except KeyboardInterrupt:
            watcher.note(f"{shown}: stopped. {_describe_kept(part)}")
            raise


def _describe_kept(part: PartFile) -> str:
    if not part.size:
        return f"Nothing has arrived. {_OTHER_WAYS}"
    if part.version is None:
        return f"{part.size:,} bytes arrived; they are not kept, since the server gives no version."
    return f"{part.size:,} bytes are kept in {part.path}; the same command goes on from there."


def _transfer(
    url: str, part: PartFile, max_bytes: int, timeout_s: float, deadline: Deadline, watcher: Watcher
) -> None:
    with _ask(url, part, timeout_s, deadline) as reply:
        chunks = _read_chunks(reply) if _more_to_come(reply, part, strip_secrets(url)) else iter(())
        # The empty first chunk: the announced length is judged before anything is read.
        for chunk in chain([b""], chunks):
            part.append(chunk)
            watcher.progress(part.size, part.total)
            if max(part.size, part.total or 0) > max_bytes:
                part.remove()
                raise DataError(
                    f"{strip_secrets(url)}: more than {max_bytes:,} bytes, the limit (limits.total_bytes).",
                    field="limits.total_bytes",
                )
    if part.total is not None and part.size != part.total:
        raise _Passing(f"the connection was cut at {part.size:,} of {part.total:,} bytes")


def _ask(url: str, part: PartFile, timeout_s: float, deadline: Deadline) -> HTTPResponse:
    """Return the reply at the end of all redirects."""
    headers = {"User-Agent": f"rationalize/{__version__}", "Accept-Encoding": "identity"}
    if part.size and part.version:
        headers |= {"Range": f"bytes={part.size}-", "If-Range": part.version}
    address = url
    for _ in range(MOST_REDIRECTS + 1):
        reply = _open(address, headers, timeout_s, deadline)
        target = reply.headers.get("Location", "") if reply.status in _REDIRECTS else ""
        if not target:
            return reply
        reply.close()
        address = _follow(address, target)
    raise DataError(f"{strip_secrets(url)}: more than {MOST_REDIRECTS} redirects. {_OTHER_WAYS}")


def _open(url: str, headers: dict[str, str], timeout_s: float, deadline: Deadline) -> HTTPResponse:
    shown = strip_secrets(url)
    try:
        return open_url(Request(url, headers=headers), silence_s=timeout_s, deadline=deadline)
    except (InvalidURL, ValueError) as error:
        raise DataError(f"{shown}: not a usable address. {_OTHER_WAYS}") from error
    except (OSError, HTTPException) as error:
        why = describe_failure(error)
        cause = error.reason if isinstance(error, URLError) else error
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise DataError(f"{shown}: {why}.") from error
        raise _Passing(f"no connection to the server ({why})") from error


def _follow(url: str, target: str) -> str:
    """Return the address that a redirect leads to; refuse a forbidden one."""
    try:
        address = urljoin(url, target)
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        address, usable = target, False
    refused = f"{strip_secrets(url)}: redirects to {strip_secrets(address)[:200]!r}, which is refused: "
    if not usable:
        raise DataError(f"{refused}expected http(s)://HOST/… without a password. {_OTHER_WAYS}")
    if urlsplit(url).scheme == "https" and parts.scheme == "http":
        raise DataError(f"{refused}it would go on unencrypted. {_OTHER_WAYS}")
    return address


def _more_to_come(reply: HTTPResponse, part: PartFile, shown: str) -> bool:
    """Make the part file ready for what the server is about to send; False: everything is here already."""
    status, headers = reply.status, reply.headers
    if status == 200:
        length = headers.get("Content-Length", "")
        part.begin(_read_version(headers), int(length) if _LENGTH.fullmatch(length) else None)
        return True
    if status in (206, 416):
        if not _goes_on(headers, part):
            part.begin(None, None)
            raise _Passing("the file there is not the one begun; starting over")
        return status == 206
    if status in (408, 429) or status >= 500:
        asked = headers.get("Retry-After", "")
        raise _Passing(
            f"the server answered {name_status(status)}", float(asked) if _LENGTH.fullmatch(asked) else 0.0
        )
    raise DataError(f"{shown}: the server answered {name_status(status)}. {_OTHER_WAYS}")


def _goes_on(headers: Message, part: PartFile) -> bool:
    """Return whether the answer to a range request continues, or (416) ends, exactly what is here."""
    match = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", ""))
    if match is None or (match["start"] or match["total"]) != str(part.size):
        return False
    total = int(match["total"]) if match["total"] != "*" else part.total
    same = part.total in (None, total) and _read_version(headers) in (None, part.version)
    part.total = total
    return same


def _read_version(headers: Message) -> str | None:
    etag = headers.get("ETag")
    # A weak tag stands for the meaning, not for the bytes.
    version = etag if etag and not etag.startswith("W/") else headers.get("Last-Modified")
    return version if version and version.isascii() and version.isprintable() else None


def _read_chunks(reply: HTTPResponse) -> Iterator[bytes]:
    try:
        while chunk := reply.read1(CHUNK_BYTES):
            yield chunk
    except (OSError, HTTPException) as error:
        raise _Passing(f"the connection was cut ({describe_failure(error)})") from error
