"""YAML from anybody: plain values, or one sentence; never a traceback, nor a minute of unfolding."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rationalize.config import RunConfig, validate
from rationalize.errors import ConfigError
from rationalize.runs.settings import load_config
from rationalize.yaml_text import parse_yaml, read_yaml_file

BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))


def test_values_are_read_as_they_stand():
    text = "a: &x {b: [1, 2.5, yes, null]}\nc: *x\n1: one\nd: {<<: *x, e: 2}\n"
    inner = {"b": [1, 2.5, True, None]}
    assert parse_yaml(text, "here") == {"a": inner, "c": inner, "1": "one", "d": {**inner, "e": 2}}
    assert parse_yaml("", "here") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "stands for .* values"),
        ("&a [*a]", "an alias to what it stands in"),
        ("[" * 5000, "nested more than 30 deep"),
        ("\n".join(f"{' ' * n}a:" for n in range(100)), "nested more than 30 deep"),
        ("2024-99-99", "month must be in"),
        ("!!int abc", "invalid literal"),
        ("!!float x", "could not convert"),
        ("!!python/object/apply:os.system [ls]", "could not determine a constructor"),
        ("? [a]\n: b", "expected a name"),
        ("? {a: b}\n: b", "expected a name"),
        ("a: b: c", "not valid YAML"),
        ("*a", "undefined alias"),
        ("\x00", "not valid YAML"),
        ("<<: 3", "expected a mapping"),
        ("9" * 5000, "Exceeds the limit"),
    ],
)
def test_what_is_no_setting_is_one_sentence(text, message):
    with pytest.raises(ConfigError, match=message) as error:
        parse_yaml(text, "here")
    assert str(error.value).startswith("here: ")
    assert len(str(error.value)) < 400


def test_a_folder_or_a_huge_file_is_no_config(tmp_path):
    with pytest.raises(ConfigError, match="Is a directory"):
        read_yaml_file(tmp_path)
    (tmp_path / "a.yaml").write_bytes(b"#" * 2**21)
    with pytest.raises(ConfigError, match="2,097,152 bytes"):
        read_yaml_file(tmp_path / "a.yaml")
    (tmp_path / "b.yaml").write_bytes(b"a: \xff")
    with pytest.raises(ConfigError, match=r"b\.yaml: not valid YAML: not UTF-8 at byte 3"):
        read_yaml_file(tmp_path / "b.yaml")


def test_an_offending_value_is_shown_shortened():
    with pytest.raises(ConfigError) as error:
        validate(RunConfig, {"seed": "x" * 10_000, "y" * 10_000: 1}, "here")
    assert len(str(error.value)) < 600
    with pytest.raises(ConfigError, match="no setting lies so deep"):
        load_config(None, {"a." * 3000 + "b": 1})


@given(st.text("ab:-[]{}&*!<|>'\"#%@`,\n \t?=0129.~\\\x00é", max_size=40))
def test_any_text_is_values_or_a_config_error(text):
    with suppress(ConfigError):
        parse_yaml(text, "here")
