"""Which texts are read together: the oldest first, with those behind it that are about as long."""

from __future__ import annotations

import threading

import pytest
from serving_helpers import PATIENCE

from rationalize.serving.serve_settings import ServeLimits
from rationalize.serving.text_queue import (
    ModelQuestion,
    QueueFullError,
    TextQueue,
    WaitingText,
    choose_alike,
)
from rationalize.types import Example

EXPLAIN, PREDICT = ModelQuestion("explain"), ModelQuestion("predict")


def waiting(*lengths, question=EXPLAIN, ticket=None):
    return [
        WaitingText(question, Example(str(index), "x" * length), ticket, index)
        for index, length in enumerate(lengths)
    ]


def chosen(texts, **limits):
    return [text.chars for text in choose_alike(texts, ServeLimits(**limits))]


def test_about_as_long_as_the_oldest_means_half_to_twice():
    assert chosen(waiting(1000, 499, 2000, 2001, 500, 1000)) == [1000, 2000, 500, 1000]


def test_among_short_texts_length_does_not_matter():
    assert chosen(waiting(0, 200, 201, 5)) == [0, 200, 5]


def test_batches_are_bounded_in_texts_and_characters():
    assert chosen(waiting(*[10] * 9), batch_texts=4) == [10] * 4
    assert chosen(waiting(400, 400, 300, 200), batch_chars=1000) == [400, 400, 200]
    assert chosen(waiting(5000, 5000), batch_chars=1000) == [5000]


def test_a_query_counts_and_questions_are_not_mixed():
    assert WaitingText(EXPLAIN, Example("0", "abc", query="de"), None, 0).chars == 5
    texts = [
        *waiting(10),
        *waiting(11, question=PREDICT),
        *waiting(12, question=ModelQuestion("explain", True)),
        *waiting(13),
    ]
    assert chosen(texts) == [10, 13]


def test_every_text_is_taken_once_and_the_oldest_always():
    queue = TextQueue(ServeLimits(batch_texts=3))
    texts = waiting(*(10 ** (index % 4) for index in range(20)))
    queue.put(texts)
    taken = []
    while len(queue):
        oldest = min(set(range(20)) - set(taken))
        batch = queue.take()
        assert batch[0].index == oldest
        taken += [text.index for text in batch]
    assert sorted(taken) == list(range(20))


def test_what_does_not_fit_is_refused_whole():
    queue = TextQueue(ServeLimits(queue_texts=3, call_texts=1))
    queue.put(waiting(1, 1))
    with pytest.raises(QueueFullError):
        queue.put(waiting(1, 1))
    assert len(queue) == 2
    queue.put(waiting(1))


def test_a_withdrawn_request_leaves_the_others():
    queue = TextQueue(ServeLimits())
    one, other = object(), object()
    queue.put([*waiting(1, 2, ticket=one), *waiting(3, ticket=other)])
    queue.withdraw(one)
    assert [text.chars for text in queue.take()] == [3]


def test_closed_it_hands_out_what_is_left_and_then_ends():
    queue = TextQueue(ServeLimits())
    queue.put(waiting(1, 1000))
    queue.close()
    with pytest.raises(QueueFullError):
        queue.put(waiting(1))
    assert [len(queue.take()) for _ in range(3)] == [1, 1, 0]


def test_a_text_that_comes_wakes_the_one_who_waits():
    queue = TextQueue(ServeLimits())
    taken = []
    worker = threading.Thread(target=lambda: taken.append(len(queue.take())))
    worker.start()
    queue.put(waiting(1, 1))
    worker.join(PATIENCE)
    assert taken == [2]


def test_it_waits_for_those_just_answered_but_not_for_long():
    queue = TextQueue(ServeLimits())
    taken = []
    worker = threading.Thread(target=lambda: taken.append(len(queue.take(3, PATIENCE))))
    worker.start()
    queue.put(waiting(1))
    queue.put(waiting(1, 1))
    worker.join(PATIENCE)
    assert taken == [3]
    queue.put(waiting(1))
    assert len(queue.take(3, 0.001)) == 1  # nobody else comes
    queue.put(waiting(1))
    queue.close()
    assert len(queue.take(3, PATIENCE)) == 1


def test_one_who_gathers_is_not_woken_for_every_text():
    queue = TextQueue(ServeLimits())
    woken, checked = [], threading.Event()
    wait = queue._changed.wait

    def count(seconds=None):
        checked.set()
        found = wait(seconds)
        woken.append(found)
        return found

    queue._changed.wait = count
    worker = threading.Thread(target=lambda: queue.take(3, PATIENCE))
    worker.start()
    assert checked.wait(PATIENCE)
    for _ in range(3):
        queue.put(waiting(1))
    worker.join(PATIENCE)
    assert woken == [True]
