"""Same text, same answer, whatever else is read with it."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from serving_helpers import PATIENCE, StubModel, asking_at_once, explain_first_word, stub_app

from helpers import tiny_corpus
from rationalize.inference.confidence import ConfidenceRule
from rationalize.serving._answering import Prediction, answer_together, depends_on_rounding
from rationalize.serving.app import create_app
from rationalize.serving.serve_settings import ServeLimits, ServeSettings
from rationalize.serving.served_model import load_served_model
from rationalize.serving.text_queue import ModelQuestion
from rationalize.types import Example

NUMBERS = ("scores", "probabilities", "from_full_text", "from_rationale", "confidence")


def mixed_texts():
    """Reviews, their pieces and their joins: 1 to some 1,500 characters, in no order."""
    reviews = [example.text for example in tiny_corpus(24)]
    pieces = [text[: 7 * index + 1] for index, text in enumerate(reviews)]
    joins = [" ".join(reviews[index : index + 1 + index % 12]) for index in range(0, 24, 2)]
    return ["", *(text for group in zip(reviews, pieces, joins * 2, strict=True) for text in group)]


class Gate:
    """A model that begins only when it may, so that callers do come together."""

    def __init__(self, model, opened):
        self.model, self.opened, self.facts = model, opened, model.facts
        self.batches = self.waiting = 0

    def explain(self, examples, *, truncate):
        return self._ask(self.model.explain, examples, truncate)

    def predict(self, examples, *, truncate):
        return self._ask(self.model.predict, examples, truncate)

    def _ask(self, ask, examples, truncate):
        self.waiting = len(examples)
        assert self.opened.wait(PATIENCE)
        self.batches += 1
        return ask(examples, truncate=truncate)


async def ask_at_once(model, texts, kind, **limits):
    """One answer per text, and how often the model was asked, when all texts come before the first is read."""
    opened = threading.Event()
    gate = Gate(model, opened)
    settings = ServeSettings(limits=ServeLimits(**limits))
    app = create_app(settings, {"movies": Path("movies")}, load=lambda folder, device: gate)
    async with asking_at_once(app) as client:
        asked = [asyncio.create_task(client.post(f"/v1/{kind}", json={"text": text})) for text in texts]
        queue = app.state.service.workers["movies"]._queue
        while len(queue) + gate.waiting < len(texts):
            await asyncio.sleep(0.002)
        opened.set()
        answers = await asyncio.gather(*asked)
    assert {answer.status_code for answer in answers} == {200}
    return [next(iter(reversed(answer.json().values())))[0] for answer in answers], gate.batches


def test_callers_at_once_get_what_each_would_get_alone(folder):
    texts = mixed_texts()
    model = load_served_model(folder, "cpu")
    found, batches = asyncio.run(ask_at_once(model, texts, "explain"))
    assert batches < len(texts) / 4
    for text, answer in zip(texts, found, strict=True):
        alone = json.loads(json.dumps(model.explain([Example("0", text)], truncate=False)[0].to_dict()))
        for name in set(alone) - set(NUMBERS):
            assert answer[name] == alone[name]
        for name in NUMBERS:
            assert answer[name] == pytest.approx(alone[name], abs=1e-5)


def test_read_one_by_one_they_are_the_same_to_the_bit(folder):
    texts = mixed_texts()[:20]
    model = load_served_model(folder, "cpu")
    found, batches = asyncio.run(ask_at_once(model, texts, "explain", batch_texts=1))
    assert batches == len(texts)
    for text, answer in zip(texts, found, strict=True):
        alone = model.explain([Example("0", text)], truncate=False)[0].to_dict()
        assert answer == json.loads(json.dumps(alone))


def test_predictions_at_once_are_those_of_each_alone(folder):
    texts = mixed_texts()
    model = load_served_model(folder, "cpu")
    found, _ = asyncio.run(ask_at_once(model, texts, "predict"))
    for text, answer in zip(texts, found, strict=True):
        (alone,) = model.predict([Example("0", text)], truncate=False)
        assert answer["label"] == max(alone, key=alone.__getitem__)
        assert answer["probabilities"] == pytest.approx(alone, abs=1e-5)


class Shaky(StubModel):
    """In company, the last digits of its numbers move by some 1e-7, and with them what hangs on them."""

    def explain(self, examples, *, truncate):
        self.batches.append([example.text for example in examples])
        noise = 1e-7 if len(examples) > 1 else -1e-7
        return [self._choose(example, noise) for example in examples]

    def _choose(self, example, noise):
        first = explain_first_word(example)
        if example.text == "tied label":
            label = "POS" if noise > 0 else "NEG"
            return replace(first, label=label, probabilities={"NEG": 0.5 - noise, "POS": 0.5 + noise})
        if example.text == "tied words":
            taken = (True, False) if noise > 0 else (False, True)
            return replace(first, scores=(0.7 + noise, 0.7 - noise), selected=taken, spans=first.words[:1])
        return first


def test_what_hangs_on_the_last_digits_is_read_alone():
    model = Shaky()
    examples = [Example(str(i), text) for i, text in enumerate(["plain text", "tied label", "tied words"])]
    together = answer_together(model, ModelQuestion("explain"), examples)
    assert model.batches == [["plain text", "tied label", "tied words"], ["tied label"], ["tied words"]]
    alone = [answer_together(model, ModelQuestion("explain"), [example])[0] for example in examples]
    assert together == alone
    assert json.loads(together[1])["label"] == "NEG"
    assert json.loads(together[2])["selected"] == [False, True]


@pytest.mark.parametrize(
    ("probabilities", "hangs"),
    [
        ({"a": 0.5, "b": 0.5}, True),
        ({"a": 0.6, "b": 0.4}, False),
        ({"a": 1.0}, False),
        ({"a": 0.4, "b": 0.4 - 1e-4, "c": 0.2}, False),
    ],
)
def test_close_labels_are_seen(probabilities, hangs):
    assert depends_on_rounding(Prediction("0", "a", probabilities, 0.5), ConfidenceRule()) == hangs


@pytest.mark.parametrize(("confidence", "hangs"), [(0.700004, True), (0.699996, True), (0.72, False)])
def test_labels_that_are_hardly_withheld_are_seen(confidence, hangs):
    rule = ConfidenceRule(1.0, {"a": 0.7})
    item = Prediction("0", "a", {"a": confidence, "b": 1 - confidence}, confidence)
    assert depends_on_rounding(item, rule) == hangs


def test_a_text_that_cannot_be_read_fails_alone():
    async def ask(client, text):
        return await client.post("/v1/explain", json={"text": text})

    async def run():
        model = StubModel(fails="bad")
        model.release.clear()
        app = stub_app(model)
        async with asking_at_once(app) as client:
            asked = [asyncio.create_task(ask(client, "first"))]
            await asyncio.to_thread(model.busy.wait)
            asked += [asyncio.create_task(ask(client, text)) for text in ("good", "bad", "fine")]
            while len(app.state.service.workers["stub"]._queue) < 3:
                await asyncio.sleep(0.002)
            model.release.set()
            return model, await asyncio.gather(*asked)

    model, answers = asyncio.run(run())
    assert ["good", "bad", "fine"] in model.batches
    assert [answer.status_code for answer in answers] == [200, 200, 500, 200]
    assert answers[2].json()["error"]["what"] == "the model could not read the text (RuntimeError)"
