"""Read an endpoint's reply: the answer, or an error message and a requested pause."""

from __future__ import annotations

import email.utils
import json
import time
from email.message import Message
from typing import Any


def read_content(reply: str) -> str | None:
    """Return the answer in a chat completion; None if the reply is not one."""
    try:
        content = json.loads(reply)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    # Half a character (JSON allows one) could neither be stored nor sent.
    return content.encode("utf-8", "replace").decode() if isinstance(content, str) else None


def read_complaint(body: str) -> str:
    """Return only the message of the usual `{"error": {"message": …}}`, or else the body."""
    try:
        found: Any = json.loads(body)
        for name in ("error", "message", "detail"):
            if isinstance(found, dict) and name in found:
                found = found[name]
        # Anything else is encoded again, so that none of the server's escapes remain.
        return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    except (ValueError, RecursionError):
        return body


def read_pause_s(headers: Message) -> float:
    """Read how many seconds the server asks to wait: a number, or a date."""
    given = str(headers.get("Retry-After", "")).strip()
    try:
        return max(0.0, float(given))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(given).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError, OSError):
        return 0.0
