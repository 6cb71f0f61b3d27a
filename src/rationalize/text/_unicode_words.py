"""Words by Unicode properties: punctuation is separate, compounds stay whole.

One word each: `don't`, `well-known`, `AT&T`, `U.S.`, `3.5`, `1,000`, `10:30`, `#tag`, `@name`, a URL or email address,
an emoji with all its parts, an emoticon, a character of a script without spaces, a run of the same mark (`...`,
`!!!`). White space and invisible characters (controls, zero-width spaces) separate words.

Matching takes linear time: every alternative either starts where a lookbehind allows it once per run of characters,
or consumes everything it has examined.
"""

from __future__ import annotations

from functools import cache
from typing import Any

UNSPACED = (
    r"\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts without spaces: CJK ideographs and their extensions, kana, Thai, Lao, Khmer, Burmese, Tibetan."""

_LETTER = rf"[[\p{{L}}\p{{N}}]--[{UNSPACED}]]"
# Marks, joiners and soft hyphens continue a word but never start one.
_RUN = rf"{_LETTER}[[\p{{L}}\p{{N}}\p{{M}}\u00ad\u200c\u200d]--[{UNSPACED}]]*+"
_INSIDE = r"(?:['’＇`´\-‐‑&_]|(?<=\p{Nd})[.,:/](?=\p{Nd}))"
_PICTURE = r"\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}\U000e0020-\U000e007f]*+"
_NOT_END = r"""\s<>"'’”.,;:!?…)\]}"""  # cannot end an address
_TOP = r"(?:com|org|net|edu|gov|info|io|uk|de|fr|eu)"

_PATTERN = rf"""
    (?:https?|ftp)://[^\s<>"]*[^{_NOT_END}] | www\.[^\s<>"]*[^{_NOT_END}]
  | (?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++
  | (?<![\w.-])[\w-]++(?:\.[\w-]++){{1,9}}(?<=\.{_TOP})(?![\w-])(?:/[^\s<>"]*[^{_NOT_END}])?
  | [\#@][\p{{L}}\p{{N}}\p{{M}}_]++
  | (?<![\p{{L}}\p{{N}}]){_LETTER}(?:\.\p{{L}}){{1,9}}(?![\p{{L}}\p{{N}}\p{{M}}])\.?
  | [0-9\#*]\ufe0f?\u20e3
  | {_RUN}(?:{_INSIDE}{_RUN})*+
  | [{UNSPACED}][\p{{M}}\ufe00-\ufe0f]*+
  | \p{{Regional_Indicator}}{{2}}
  | (?P<picture>{_PICTURE}(?:\u200d{_PICTURE})*+)(?P=picture)*+
  | [:;=]['^-]?[()\[\]DPpOo/|*](?![\p{{L}}\p{{N}}/]) | <3(?!\d)
  | (?P<mark>[^\s\p{{Cc}}\p{{Cf}}])(?P=mark)*+\p{{M}}*+
"""


@cache
def compile_unicode_pattern() -> Any:
    """Compile the pattern that matches one word."""
    import regex

    return regex.compile(_PATTERN, regex.VERBOSE | regex.V1)
