"""What an endpoint sends back: the answer, or a complaint and how long it asks to wait."""

from __future__ import annotations

import email.utils
import json
import time
from email.message import Message
from typing import Any


def read_content(reply: str) -> str | None:
    """The answer in a chat completion; None if it is none."""
    try:
        content = json.loads(reply)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    # Half a character (JSON allows one) could neither be stored nor sent.
    return content.encode("utf-8", "replace").decode() if isinstance(content, str) else None


def read_complaint(body: str) -> str:
    """The message in the usual `{"error": {"message": …}}`, with nothing of what stands around it; else the body."""
    try:
        found: Any = json.loads(body)
        for name in ("error", "message", "detail"):
            if isinstance(found, dict) and name in found:
                found = found[name]
        # Anything else is written anew, so that no escape of the server's is left in it.
        return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    except (ValueError, RecursionError):
        return body


def read_pause_s(headers: Message) -> float:
    """Seconds that the server asks to wait: a number, or a date."""
    asked = str(headers.get("Retry-After", "")).strip()
    try:
        return max(0.0, float(asked))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(asked).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError, OSError):
        return 0.0
