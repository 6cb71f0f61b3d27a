"""Fetching one file over HTTP: taken up where it stopped, tried again when cut, hashed as it arrives.

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
from typing import cast
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from rationalize.data.part_file import CHUNK_BYTES, PartFile, strip_secrets
from rationalize.errors import DataError
from rationalize.version import __version__

_OTHER_WAYS = (
    "Check the address and the network. Another server for the named data sets is given by `base_url`; "
    "an archive that you have already, by its path."
)
_CONTENT_RANGE = re.compile(r"bytes (?:(?P<start>\d+)-\d+|\*)/(?P<total>\d+|\*)")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to insist: the pause doubles after every failure."""

    attempts: int = 5
    timeout_s: float = 30.0
    first_pause_s: float = 1.0
    longest_pause_s: float = 60.0
    sleep: Callable[[float], None] = time.sleep

    def pause_s(self, failures: int, asked_s: float = 0.0) -> float:
        """The pause after so many failures; the server may ask for more."""
        return min(self.longest_pause_s, max(asked_s, self.first_pause_s * 2.0 ** (failures - 1)))


class Watcher:
    """Hears how a download goes. This one keeps silent."""

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
    watcher: Watcher | None = None,
) -> None:
    """Bring the part file to completion.

    Raises:
        DataError: If the server refuses, sends too much, or fails too often. What arrived is kept.
    """
    patience, watcher = patience or Patience(), watcher or Watcher()
    shown = strip_secrets(url)
    for attempt in range(1, patience.attempts + 1):
        try:
            return _transfer(url, part, max_bytes, patience.timeout_s, watcher)
        except _Passing as failure:
            if attempt == patience.attempts:
                raise DataError(
                    f"{shown}: given up after {attempt} attempts: {failure}. {_say_kept(part)}"
                ) from failure
            pause_s = patience.pause_s(attempt, failure.pause_s)
            watcher.note(f"{shown}: {failure}; trying again in {pause_s:g} s")
            patience.sleep(pause_s)
        except KeyboardInterrupt:
            watcher.note(f"{shown}: stopped. {_say_kept(part)}")
            raise


def _say_kept(part: PartFile) -> str:
    if not part.size:
        return f"Nothing has arrived. {_OTHER_WAYS}"
    return f"{part.size:,} bytes are kept in {part.path}; the same command goes on from there."


def _transfer(url: str, part: PartFile, max_bytes: int, timeout_s: float, watcher: Watcher) -> None:
    with _ask(url, part, timeout_s) as reply:
        chunks = _chunks(reply) if _more_to_come(reply, part, strip_secrets(url)) else iter(())
        # The empty first chunk: the announced length is judged before anything is read.
        for chunk in chain([b""], chunks):
            part.append(chunk)
            watcher.progress(part.size, part.total)
            if max(part.size, part.total or 0) > max_bytes:
                part.remove()
                raise DataError(
                    f"{strip_secrets(url)}: more than {max_bytes:,} bytes, the limit (`limits.total_bytes`)."
                )
    if part.total is not None and part.size != part.total:
        raise _Passing(f"the connection was cut at {part.size:,} of {part.total:,} bytes")


def _ask(url: str, part: PartFile, timeout_s: float) -> HTTPResponse:
    headers = {"User-Agent": f"rationalize/{__version__}", "Accept-Encoding": "identity"}
    if part.size and part.version:
        headers |= {"Range": f"bytes={part.size}-", "If-Range": part.version}
    try:
        return cast(HTTPResponse, urlopen(Request(url, headers=headers), timeout=timeout_s))
    except HTTPError as error:
        return cast(HTTPResponse, error)  # an answer like any other: it has a status and headers
    except (InvalidURL, ValueError) as error:
        raise DataError(f"{strip_secrets(url)}: not a usable address ({error}).") from error
    except (OSError, HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, ssl.SSLCertVerificationError):
            raise DataError(f"{strip_secrets(url)}: its certificate is not trusted ({reason}).") from error
        raise _Passing(f"no connection to the server ({reason})") from error


def _more_to_come(reply: HTTPResponse, part: PartFile, shown: str) -> bool:
    """Make the part file ready for what the server is about to send; False: everything is here already."""
    status, headers = reply.status, reply.headers
    if status == 200:
        length = headers.get("Content-Length", "")
        part.begin(_version(headers), int(length) if length.isdecimal() else None)
        return True
    if status in (206, 416):
        if not _goes_on(headers, part):
            part.begin(None, None)
            raise _Passing("the file there is not the one begun; starting over")
        return status == 206
    if status in (408, 429) or status >= 500:
        asked = headers.get("Retry-After", "")
        raise _Passing(
            f"the server answered {status} {reply.reason}", float(asked) if asked.isdecimal() else 0.0
        )
    raise DataError(f"{shown}: the server answered {status} {reply.reason}. {_OTHER_WAYS}")


def _goes_on(headers: Message, part: PartFile) -> bool:
    """Whether the answer to a range request continues, or (416) ends, exactly what is here."""
    match = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", ""))
    if match is None or (match["start"] or match["total"]) != str(part.size):
        return False
    total = int(match["total"]) if match["total"] != "*" else part.total
    same = part.total in (None, total) and _version(headers) in (None, part.version)
    part.total = total
    return same


def _version(headers: Message) -> str | None:
    etag = headers.get("ETag")
    # A weak tag vouches for the meaning, not for the bytes.
    return etag if etag and not etag.startswith("W/") else headers.get("Last-Modified")


def _chunks(reply: HTTPResponse) -> Iterator[bytes]:
    try:
        while chunk := reply.read1(CHUNK_BYTES):
            yield chunk
    except (OSError, HTTPException) as error:
        raise _Passing(f"the connection was cut ({error!r})") from error
