"""Audits of more documents than are held in memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
from audit_texts import planted

from rationalize.audit import _stored_documents
from rationalize.audit._audit import audit
from rationalize.audit.audit_config import AuditConfig
from rationalize.audit.whole_audit import audit_data
from rationalize.data.jsonl import to_row
from rationalize.data.planted import make_corpus
from rationalize.errors import DataError
from rationalize.files import json_line, write_text
from rationalize.types import Span

QUICK = {"semantic": False, "sample": 20}


def make_texts(n):
    """Texts with two shortcuts, a column, gold in some, one text twice, and one without a label."""
    rows = planted(n, pos="it ran on many screens .", neg="they shelved it for years .")
    rows = [
        replace(
            each,
            rationale=(Span(0, 12),) if index % 3 == 0 else None,
            metadata={"source": "web" if each.label == "POS" and index % 5 else "mail", "row": index},
        )
        for index, each in enumerate(rows)
    ]
    return [*rows, replace(rows[4], id="again"), replace(rows[5], id="open", label=None)]


def compare(one, other):
    """Everything but the settings is the same."""
    first, second = one.to_dict(), other.to_dict()
    assert first.pop("config") != second.pop("config")
    assert first == second


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr(_stored_documents, "SHARD_CHARACTERS", 5_000)


def test_shards_on_disk_give_what_memory_gives(small_shards, tmp_path):
    texts = make_texts(120)
    held = audit(texts, AuditConfig(**QUICK), name="posts")
    assert held.suspected
    assert held.suspected_columns
    assert len(held.notes) == 2
    stored = audit(iter(texts), AuditConfig(**QUICK, memory_documents=50), name="posts")
    compare(stored, held)
    assert stored.spans["d7"] == held.spans["d7"]
    with pytest.raises(KeyError):
        stored.spans["nowhere"]


def test_files_are_audited_as_what_they_hold(tmp_path):
    texts = make_texts(60)
    for number in range(3):
        lines = "".join(json_line(to_row(each)) for each in texts[number::3])
        write_text(tmp_path / f"posts-{number}.jsonl", lines)
    pattern = str(tmp_path / "posts-*.jsonl")
    compare(
        audit_data(pattern, settings={**QUICK, "memory_documents": 10}), audit_data(pattern, settings=QUICK)
    )


def test_a_shard_that_is_none_is_refused_before_any_work(tmp_path):
    write_text(tmp_path / "posts-0.jsonl", "".join(json_line(to_row(each)) for each in make_texts(30)))
    write_text(tmp_path / "posts-1.jsonl", "no json\n")
    with pytest.raises(DataError, match=r"posts-1\.jsonl:1: not JSON"):
        audit_data(str(tmp_path / "posts-*.jsonl"), settings=QUICK)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no split files"):
        audit_data(tmp_path / "empty", settings=QUICK)


def test_the_probe_is_a_sample_of_many_documents():
    found = audit(make_texts(120), AuditConfig(**QUICK, probe_documents=60))
    assert "The label was predicted on a sample of 60 documents." in found.notes
    assert min(found.accuracy.phrases, found.accuracy.all_words) > 0.9


@pytest.mark.slow
def test_two_processes_give_what_one_gives(small_shards):
    texts = make_texts(200)
    settings = {**QUICK, "memory_documents": 50}
    compare(audit(texts, AuditConfig(**settings, workers=2)), audit(texts, AuditConfig(**settings)))


@pytest.mark.slow
def test_twenty_thousand_documents_from_disk_give_what_memory_gives():
    texts = make_corpus(sizes={"train": 20_000}).split("train")
    settings = {**QUICK, "max_words": 5}
    held = audit(texts, AuditConfig(**settings))
    compare(audit(texts, AuditConfig(**settings, memory_documents=1_000, workers=2)), held)
