"""Threads that share a model get the answers that one thread alone gets."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable

import pytest
import torch

from helpers import tiny_corpus, tiny_model, tiny_run, tiny_tokenizer
from local_encoders import KINDS, save_local
from rationalize.models.encoder import EncoderFactory
from rationalize.models.tokenizer import load_tokenizer
from rationalize.runs.model_folder import Model, ModelConfig, build_method
from rationalize.types import Example

THREADS = 8
TEXTS = [example.text for example in tiny_corpus(12)]
LONG = " ".join(TEXTS)
QUERY = "is it any good , and would you see it again ?"
FEW_WORDS = 3  # of each text, for a large encoder: what threads may disturb does not depend on the length


@pytest.fixture(autouse=True)
def one_core_and_frequent_switches():
    """Threads change places as often as they can, and torch brings no threads of its own."""
    cores, interval = torch.get_num_threads(), sys.getswitchinterval()
    torch.set_num_threads(1)
    sys.setswitchinterval(1e-5)
    yield
    torch.set_num_threads(cores)
    sys.setswitchinterval(interval)


def list_calls(model: Model, words: int | None = None) -> list[Callable[[], object]]:
    """Short and long texts, with and without query, whole and cut, alone and together, explained and labeled.

    Args:
        model: Who is asked.
        words: How many words of each text and of the query; None: all.
    """
    query = " ".join(QUERY.split()[:words])
    texts = [" ".join(text.split()[:words]) for text in TEXTS] if words else TEXTS
    long = " ".join(texts)
    examples = [
        *(Example(str(index), text) for index, text in enumerate(texts[:4])),
        Example("asked", texts[4], query=query),
        Example("cut query", texts[5], query=f"{query} " * 5),
        Example("long", long[:400]),
        Example("long, asked", long[:300], query=query),
        Example("empty", "", query=query),
    ]

    def explain(some: list[Example], truncate: bool) -> object:
        return [each.explanation for each in model.engine().explain(some, truncate=truncate)]

    def predict(some: list[Example], truncate: bool) -> object:
        return list(model.engine().predict(some, truncate=truncate))

    groups = [*([each] for each in examples), examples[:3], examples[3:6]]
    return [
        lambda ask=ask, some=some, truncate=truncate: ask(some, truncate)
        for some in groups
        for truncate in (True, False)
        for ask in (explain, predict)
    ]


def count_wrong(calls: list[Callable[[], object]], per_thread: int) -> tuple[int, list[str]]:
    """Make the calls in every thread, in orders of their own; returns how many were made, and what went wrong."""
    expected = [call() for call in calls]
    wrong: list[str] = []
    made = [0] * THREADS
    start = threading.Barrier(THREADS)

    def work(number: int) -> None:
        rng = random.Random(number)
        start.wait()
        for _ in range(per_thread):
            index = rng.randrange(len(calls))
            made[number] += 1
            try:
                if calls[index]() != expected[index]:
                    wrong.append(f"call {index}: another answer")
            except Exception as error:
                wrong.append(f"call {index}: {error!r}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(made), wrong


def check(model: Model, per_thread: int, what: str, words: int | None = None) -> None:
    attempted, wrong = count_wrong(list_calls(model, words), per_thread)
    print(f"threads, {what}: attempted {attempted}, held {attempted - len(wrong)}, failed {len(wrong)}")
    assert attempted == THREADS * per_thread
    assert wrong[:3] == []


def build(kind: str, tmp_path) -> Model:
    """An untrained un_rat on an encoder of this kind."""
    if kind in {"tiny", "gru"}:
        return tiny_model("un_rat", encoder={"name": kind})
    name, sizes = kind, {}
    if kind in KINDS:
        save_local(kind, tmp_path / kind)
        name = str(tmp_path / kind)
    else:
        sizes["max_tokens"] = 5 * FEW_WORDS  # so that few words are long, too
    run = tiny_run("un_rat", encoder={"name": name, **sizes})
    config = ModelConfig(
        method="un_rat", options=run.options, labels=["NEG", "POS"], encoder=run.encoder, use_query=True
    )
    tokenizer = load_tokenizer(name)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        method = build_method(config, EncoderFactory(run.encoder, tokenizer))
    return Model(config, method.eval(), tokenizer)


def test_threads_that_share_a_model_get_the_answers_of_one():
    check(tiny_model("un_rat"), 12, "tiny")


@pytest.mark.parametrize("attribution", ["gradient_x_input", "attention"])
def test_threads_may_look_for_words_while_others_read(attribution):
    """Attributions switch weights or attention to another state; nobody else may notice."""
    check(tiny_model("full_text", attribution=attribution), 4, attribution)


def test_using_the_tokenizer_elsewhere_changes_no_answer():
    model = tiny_model("un_rat")
    example = Example("long", f"[SEP] {LONG}", query="good ?")
    (before,) = model.engine().explain([example])
    tiny_tokenizer()("a joy", truncation=True, max_length=3, padding="max_length")
    (after,) = model.engine().explain([example])
    assert after.explanation == before.explanation


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tiny", "gru", "minilm", *KINDS])
def test_eight_threads_make_five_thousand_calls_each(kind, tmp_path):
    check(build(kind, tmp_path), 5000, kind, words=FEW_WORDS if kind == "minilm" else None)
