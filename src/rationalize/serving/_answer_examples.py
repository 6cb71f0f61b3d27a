"""Answers that /openapi.json shows, one of each kind.

They have no nulls, which FastAPI would leave out: so the text has a query, and an end that was not read.
"""

from __future__ import annotations

from pydantic import JsonValue

EXPLAINED: dict[str, JsonValue] = {
    "model": "movies",
    "explanations": [
        {
            "text": "a gripping film to the end",
            "label": "POS",
            "probabilities": {"NEG": 0.1, "POS": 0.9},
            "spans": [[2, 10]],
            "words": [[0, 1], [2, 10], [11, 15], [16, 18], [19, 22], [23, 26]],
            "scores": [0.1, 0.9, 0.2, 0.0, 0.0, 0.0],
            "selected": [False, True, False, False, False, False],
            "faithful": True,
            "method": "semi_rat",
            "query": "is it a good film ?",
            "from_full_text": {"NEG": 0.2, "POS": 0.8},
            "from_rationale": {"NEG": 0.1, "POS": 0.9},
            "cut_off": [15, 26],
            "id": "0",
            "oracle_label": False,
            "confidence": 0.84,
            "rationale": ["gripping"],
            "review": False,
        }
    ],
}
PREDICTED: dict[str, JsonValue] = {
    "model": "movies",
    "predictions": [
        {"id": "0", "label": "POS", "probabilities": {"NEG": 0.1, "POS": 0.9}, "confidence": 0.84}
    ],
}
REFUSED: dict[str, JsonValue] = {
    "error": {
        "what": "81234 characters",
        "where": "texts[3]",
        "expected": "at most 50000 characters (text_chars)",
    }
}
