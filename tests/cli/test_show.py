from __future__ import annotations

import pytest

from rationalize.cli.show import parse_pairs
from rationalize.errors import ConfigError


def test_pairs_are_parsed():
    assert parse_pairs(["positive=POS", "a=b=c"], "--label-map", once=True) == {"positive": "POS", "a": "b=c"}
    assert parse_pairs(["p=POS", "p=POS"], "--label-map", once=True) == {"p": "POS"}
    assert parse_pairs(["a=1", "a=2"], "--set") == {"a": "2"}
    assert parse_pairs(None, "--set") == {}


@pytest.mark.parametrize("pairs", [["positive"], ["=POS"], ["positive="], ["p=POS", "p=NEG"]])
def test_pairs_that_are_none_are_refused(pairs):
    with pytest.raises(ConfigError, match="--label-map"):
        parse_pairs(pairs, "--label-map", once=True)
