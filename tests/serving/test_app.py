"""What the service answers, with a small real model behind it."""

from __future__ import annotations

import json
import shutil
from dataclasses import fields
from pathlib import Path

import pytest
from serving_helpers import asking, stub_app
from typer.testing import CliRunner

from helpers import tiny_corpus
from rationalize.cli.main import app as command
from rationalize.rationalizer import Rationalizer
from rationalize.serving._schema import ErrorAnswer, ExplainAnswer, PredictAnswer
from rationalize.serving.app import create_app
from rationalize.serving.serve_settings import ServeSettings
from rationalize.types import Explanation

TEXTS = [example.text for example in tiny_corpus(3)]


@pytest.fixture(scope="module")
def client(folder):
    with asking(create_app(ServeSettings(), {"movies": folder})) as found:
        yield found


def printed(folder, *args):
    done = CliRunner().invoke(command, ["explain", str(folder), *args, "--json"])
    assert done.exit_code == 0, done.output
    return done.stdout.rstrip("\n")


def test_an_explanation_is_what_the_command_prints(client, folder):
    answer = client.post("/v1/explain", json={"text": TEXTS[0], "query": "is it good ?"})
    assert answer.status_code == 200
    expected = printed(folder, TEXTS[0], "--query", "is it good ?")
    assert answer.text == f'{{"model": "movies", "explanations": [{expected}]}}'


def test_long_texts_are_read_whole_unless_truncation_is_wanted(client, folder):
    long = " ".join(example.text for example in tiny_corpus(12))
    for truncate, flags in ((False, []), (True, ["--truncate"])):
        (found,) = client.post("/v1/explain", json={"text": long, "truncate": truncate}).json()[
            "explanations"
        ]
        assert found == json.loads(printed(folder, long, *flags))
        assert (found["cut_off"] is not None) == truncate


def test_answers_come_in_the_order_of_the_texts_with_their_queries(client):
    call = {"texts": TEXTS, "queries": ["first ?", None, "third ?"]}
    found = client.post("/v1/explain", json=call).json()["explanations"]
    assert [(each["id"], each["text"], each["query"]) for each in found] == [
        ("0", TEXTS[0], "first ?"),
        ("1", TEXTS[1], None),
        ("2", TEXTS[2], "third ?"),
    ]


def test_a_prediction_is_the_explanation_without_its_words(client):
    predicted = client.post("/v1/predict", json={"texts": TEXTS}).json()
    explained = client.post("/v1/explain", json={"texts": TEXTS}).json()["explanations"]
    assert predicted["model"] == "movies"
    for one, other in zip(predicted["predictions"], explained, strict=True):
        assert set(one) == {"id", "label", "probabilities", "confidence"}
        assert (one["id"], one["label"]) == (other["id"], other["label"])
        assert one["probabilities"] == pytest.approx(other["probabilities"], abs=1e-5)


def test_a_label_that_is_not_sure_enough_is_withheld(folder):
    with asking(create_app(ServeSettings(min_confidence=1.0), {"movies": folder})) as client:
        for path, name in (("/v1/explain", "explanations"), ("/v1/predict", "predictions")):
            (found,) = client.post(path, json={"text": TEXTS[0]}).json()[name]
            assert found["label"] == "abstain"
            assert found["confidence"] < 1.0
        (shown,) = client.get("/v1/models").json()["models"]
        assert shown["min_confidence"] == {"NEG": 1.0, "POS": 1.0}


def test_each_label_can_need_a_confidence_of_its_own(folder):
    with asking(create_app(ServeSettings(min_confidence={"NEG": 1.0}), {"movies": folder})) as client:
        (shown,) = client.get("/v1/models").json()["models"]
        assert shown["min_confidence"] == {"NEG": 1.0}
        found = client.post("/v1/predict", json={"texts": TEXTS}).json()["predictions"]
        surest = [max(each["probabilities"], key=each["probabilities"].get) for each in found]
        assert [each["label"] for each in found] == ["abstain" if each == "NEG" else each for each in surest]
    with asking(create_app(ServeSettings(min_confidence={"gone": 1.0}), {"movies": folder})) as client:
        (state,) = client.get("/readyz").json()["models"].values()
        assert "saw the label 'gone', expected one of" in state["why"]


def test_a_service_may_multiply_in_half_precision(folder):
    def predict(**settings):
        with asking(create_app(ServeSettings(**settings), {"movies": folder})) as client:
            (found,) = client.post("/v1/predict", json={"text": TEXTS[0]}).json()["predictions"]
            return found["probabilities"]

    exact, half = predict(), predict(precision="bf16")
    assert exact != half
    assert half == pytest.approx(exact, abs=0.05)


def test_an_exported_model_is_served_like_any_other(folder, tmp_path):
    pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    Rationalizer.from_pretrained(folder).export(tmp_path / "exported")
    with asking(create_app(ServeSettings(), {"first": folder, "exported": tmp_path / "exported"})) as client:
        first, exported = (
            client.post("/v1/explain", json={"model": name, "texts": TEXTS}).json()["explanations"]
            for name in ("first", "exported")
        )
    assert [each["rationale"] for each in exported] == [each["rationale"] for each in first]


def test_models_are_listed_with_the_limits(client):
    found = client.get("/v1/models").json()
    (model,) = found["models"]
    assert (model["name"], model["state"], model["why"]) == ("movies", "ready", None)
    assert (model["method"], model["faithful"], model["labels"]) == ("un_rat", True, ["NEG", "POS"])
    assert found["limits"] == ServeSettings().limits.model_dump()


def test_one_of_several_models_is_asked_by_name():
    with asking(stub_app(models=("a", "b"))) as client:
        assert client.post("/v1/explain", json={"text": "x", "model": "b"}).json()["model"] == "b"
        unnamed = client.post("/v1/explain", json={"text": "x"})
        assert (unnamed.status_code, unnamed.json()["error"]["expected"]) == (422, "one of a, b")
        unknown = client.post("/v1/explain", json={"text": "x", "model": "c"})
        assert (unknown.status_code, unknown.json()["error"]["where"]) == (404, "model")


def test_a_damaged_model_keeps_the_service_not_ready_while_others_answer(folder, tmp_path):
    damaged = shutil.copytree(folder, tmp_path / "damaged")
    weights = damaged / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    with asking(create_app(ServeSettings(), {"movies": folder, "damaged": damaged})) as client:
        assert client.get("/healthz").status_code == 200
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["ready"]) == (503, False)
        assert "model.safetensors" in ready.json()["models"]["damaged"]["why"]
        assert ready.json()["models"]["movies"] == {"state": "ready", "why": None}
        assert client.post("/v1/explain", json={"text": "x", "model": "movies"}).status_code == 200
        refused = client.post("/v1/explain", json={"text": "x", "model": "damaged"})
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "60")
        assert "model.safetensors" in client.get("/").text


def test_a_device_that_is_not_there_is_named(folder):
    with asking(create_app(ServeSettings(device="cuda:99"), {"movies": folder})) as client:
        assert "device: 'cuda:99' is not available" in client.get("/readyz").json()["models"]["movies"]["why"]


def test_metrics_count_requests_texts_and_batches():
    with asking(stub_app()) as client:
        client.post("/v1/explain", json={"texts": ["x", "y"]})
        client.get("/nowhere")
        found = client.get("/metrics")
    assert found.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = found.text.splitlines()
    assert 'rationalize_requests_total{route="/v1/explain",status="200"} 1.0' in lines
    assert 'rationalize_requests_total{route="(other)",status="404"} 1.0' in lines
    assert 'rationalize_texts_total{kind="explain",model="stub"} 2.0' in lines
    assert 'rationalize_batch_texts_count{model="stub"} 1.0' in lines
    assert 'rationalize_queue_texts{model="stub"} 0.0' in lines
    assert 'rationalize_model_ready{model="stub"} 1.0' in lines


def test_the_interface_is_described_with_examples_that_work(client):
    described = client.get("/openapi.json").json()
    assert set(described["paths"]) == {
        "/v1/explain", "/v1/predict", "/v1/models", "/healthz", "/readyz", "/metrics",
    }  # fmt: skip
    shapes = described["components"]["schemas"]
    assert list(shapes["ExplanationShape"]["properties"]) == [
        *(each.name for each in fields(Explanation)),
        "rationale",
        "review",
    ]
    for call in shapes["TextsCall"]["examples"]:
        assert client.post("/v1/explain", json=call).status_code == 200
    for answer in (ExplainAnswer, PredictAnswer, ErrorAnswer):
        (shown,) = shapes[answer.__name__]["examples"]
        assert answer.model_validate(shown).model_dump(mode="json", exclude_unset=True) == shown
    (explained,) = shapes["ExplainAnswer"]["examples"][0]["explanations"]
    assert json.loads(json.dumps(Explanation.from_dict(explained).to_dict())) == explained
    assert {"401", "413", "422", "429", "503", "504"} <= set(
        described["paths"]["/v1/explain"]["post"]["responses"]
    )


@pytest.mark.parametrize("path", ["/v1/models", "/nowhere", "/", "/static/service.css", "/static/../app.py"])
def test_browsers_are_kept_strict(client, path):
    answer = client.get(path, headers={"Origin": "http://elsewhere.example"})
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none';")
    assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert "server" not in answer.headers
    expected = 404 if path in ("/nowhere", "/static/../app.py") else 200
    assert answer.status_code == expected


def test_pages_escape_what_they_show():
    with asking(stub_app(models=("<b>x</b>",))) as client:
        assert "<b>x" not in client.get("/").text


def test_pages_and_their_files_are_part_of_the_package():
    import tomllib

    wanted = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    patterns = wanted["tool"]["setuptools"]["package-data"]["rationalize"]
    assert {"serving/static/*", "serving/templates/*"} <= set(patterns)
