"""An exported model: the same explanations from graphs, the same checks when loaded, and refusals with reasons."""

from __future__ import annotations

import json
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from helpers import LABELS, add_slow, tiny_corpus, tiny_model
from local_encoders import save_local
from rationalize.errors import ConfigError, EncoderError, ModelFormatError
from rationalize.files import read_json, write_json, write_manifest
from rationalize.methods.un_rat import UnRAT
from rationalize.models.encoder import EncoderFactory
from rationalize.models.onnx_encoder import OnnxEncoder
from rationalize.models.tokenizer import load_tokenizer
from rationalize.rationalizer import Rationalizer
from rationalize.runs.model_export import export_model
from rationalize.runs.model_folder import Model, build_method, load_model, render_plain_card, save_model
from rationalize.types import Example

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

LONG = Example("long", " ".join(each.text for each in tiny_corpus(8)), query="is it good ?")
TEXTS = [*tiny_corpus(30), LONG, Example("empty", "")]


def export(model, folder, **settings):
    return export_model(model, folder, render_plain_card, **settings)


def explain(model):
    return [each.explanation for each in model.engine().explain(TEXTS)]


def assert_same(first, second, tolerance=1e-4):
    for one, other in zip(explain(first), explain(second), strict=True):
        assert one.rationale == other.rationale
        assert one.probabilities == pytest.approx(other.probabilities, abs=tolerance)
        assert one.scores == pytest.approx(other.scores, abs=tolerance)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported") / "model"
    export(tiny_model("un_rat"), folder)
    return folder


@pytest.fixture
def folder(exported, tmp_path):
    """A copy that may be damaged."""
    return shutil.copytree(exported, tmp_path / "model")


@pytest.mark.parametrize(
    ("masking", "shared"),
    add_slow(
        [("attention", True), ("mix", False)],
        [("attention", False), ("mix", True), ("zero", True), ("zero", False)],
    ),
)
def test_graphs_explain_as_the_model_does(tmp_path, masking, shared):
    model = tiny_model("semi_rat", selection={"masking": masking, "shared_encoder": shared, "share": 0.3})
    done = export(model, tmp_path / "model")
    assert 0 < done.difference < 1e-4
    loaded = load_model(tmp_path / "model")
    assert_same(model, loaded)
    assert len(list((tmp_path / "model").glob("*.onnx"))) == (1 if shared else 2)
    encoded = model.text.encode_all(TEXTS, truncate=False)
    for one, other in zip(
        model.engine().probabilities(encoded), loaded.engine().probabilities(encoded), strict=True
    ):
        assert one == pytest.approx(other, abs=1e-4)


@pytest.mark.parametrize(
    ("shared", "int8"), add_slow([(True, False)], [(False, False), (True, True), (False, True)])
)
def test_selection_by_the_first_layers_is_exported(tmp_path, shared, int8):
    model = tiny_model(
        "un_rat",
        encoder={"layers": 3},
        selection={"layers": 1, "shared_encoder": shared, "masking": "attention"},
    )
    done = export(model, tmp_path / "model", int8=int8)
    loaded = load_model(tmp_path / "model")
    if not int8:
        assert_same(model, loaded)
    assert done.difference < 0.1
    for one, other in zip(explain(model), explain(loaded), strict=True):
        assert one.scores == pytest.approx(other.scores, abs=0.05)
    first, second = (
        each.engine().predict(TEXTS) for each in (model, loaded)
    )  # selects without the upper layers
    for one, other in zip(first, second, strict=True):
        assert one == pytest.approx(other, abs=0.1 if int8 else 1e-4)


@pytest.mark.parametrize("method", add_slow(["st_rat"], [["wsee"], ["mgr"], ["pipeline"]]))
def test_other_families_of_methods_are_exported_too(tmp_path, method):
    model = tiny_model(method)
    if method == "st_rat":  # a copy of the net at first, but with graphs of its own once it has learned
        for weight in model.method.teacher.parameters():
            weight.data.add_(0.1 * torch.ones_like(weight))
    export(model, tmp_path / "model")
    assert_same(model, load_model(tmp_path / "model"))


@pytest.mark.parametrize(
    ("kind", "int8"), add_slow([("llama", False)], [("roberta", False), ("gpt2", False), ("gpt2", True)])
)
def test_other_architectures_read_as_in_torch(tmp_path, kind, int8):
    save_local(kind, tmp_path / "source")
    template = tiny_model("un_rat", selection={"masking": "attention"}).config
    encoder = template.encoder.model_copy(update={"name": str(tmp_path / "source"), "max_tokens": 32})
    config = template.model_copy(update={"encoder": encoder})
    tokenizer = load_tokenizer(str(tmp_path / "source"))
    model = Model(config, build_method(config, EncoderFactory(encoder, tokenizer)).eval(), tokenizer)
    done = export(model, tmp_path / "model", int8=int8)
    shutil.rmtree(tmp_path / "source")
    loaded = load_model(tmp_path / "model")
    if int8:
        assert 1e-4 < done.difference < 0.1
    else:
        assert_same(model, loaded)


def test_int8_stays_close_and_is_smaller(tmp_path):
    model = tiny_model("un_rat", encoder={"hidden_size": 128, "layers": 2})
    single, small = (export(model, tmp_path / name, int8=name == "int8") for name in ("single", "int8"))
    assert single.difference < 1e-4 < small.difference < 0.1
    sizes = [(tmp_path / name / "encoder-0.onnx").stat().st_size for name in ("single", "int8")]
    assert sizes[1] < 0.5 * sizes[0]
    loaded = load_model(tmp_path / "int8")
    for one, other in zip(explain(model), explain(loaded), strict=True):
        assert one.probabilities == pytest.approx(other.probabilities, abs=0.05)
    operators = {node.op_type for node in onnx.load(tmp_path / "int8" / "encoder-0.onnx").graph.node}
    assert "MatMulIntegerToFloat" in operators


def test_int8_answers_do_not_depend_on_the_texts_beside(tmp_path):
    export(tiny_model("un_rat"), tmp_path / "model", int8=True)
    engine = load_model(tmp_path / "model").engine()
    together = [each.explanation for each in engine.explain(TEXTS)]
    alone = [each.explanation for text in TEXTS for each in engine.explain([text])]
    for one, other in zip(together, alone, strict=True):
        assert one.rationale == other.rationale
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-6)


def test_no_weight_is_stored_twice(exported):
    from safetensors.torch import load_file

    names = set(load_file(exported / "model.safetensors"))
    assert {name for name in names if ".encoder." in name} == {
        "net.encoder.table",
        "net.encoder.hidden_piece",
    }
    graph = onnx.load(exported / "encoder-0.onnx").graph
    vocabulary = read_json(exported / "config.json")["export"]["vocabulary"]
    assert not [each.name for each in graph.initializer if vocabulary in each.dims]


def test_the_front_door_loads_it_like_any_other(exported, tmp_path):
    model, loaded = tiny_model("un_rat"), Rationalizer.from_pretrained(exported)
    assert [each.rationale for each in loaded.explain(TEXTS)] == [each.rationale for each in explain(model)]
    assert loaded.labels == LABELS
    assert loaded.evaluate(tiny_corpus(10), "test").n_examples == 10
    loaded.save_pretrained(tmp_path / "again")
    assert "exported to ONNX, single precision" in (tmp_path / "again/README.md").read_text(encoding="utf-8")


def test_threads_share_it(exported):
    engine = load_model(exported).engine()

    def answer(_):
        return [each.explanation for each in engine.explain(TEXTS)]

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(answer, range(8))
    assert all(other == first for other in others)


def test_a_loaded_export_is_saved_again_with_its_graphs(exported, tmp_path):
    loaded = load_model(exported)
    save_model(tmp_path / "again", loaded, "")
    assert explain(load_model(tmp_path / "again")) == explain(loaded)


def test_a_changed_graph_is_not_saved_as_if_it_were_the_loaded_one(folder, tmp_path):
    loaded = load_model(folder)
    (folder / "encoder-0.onnx").write_bytes(b"another")
    with pytest.raises(ModelFormatError, match="changed since it was loaded"):
        save_model(tmp_path / "again", loaded, "")
    assert not (tmp_path / "again").exists()


def test_a_damaged_graph_is_refused(folder):
    graph = folder / "encoder-0.onnx"
    content = bytearray(graph.read_bytes())
    content[len(content) // 2] ^= 1
    graph.write_bytes(content)
    with pytest.raises(ModelFormatError, match=r"encoder-0\.onnx: content changed"):
        load_model(folder)


def rewrite(folder, change):
    """Change the graph, with a manifest that fits."""
    model = onnx.load(folder / "encoder-0.onnx")
    change(model)
    (folder / "encoder-0.onnx").write_bytes(model.SerializeToString())
    write_manifest(folder)


def point_outside(model):
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="secret")


def add_loop(model):
    body = onnx.helper.make_graph([onnx.helper.make_node("Identity", ["a"], ["b"])], "body", [], [])
    model.graph.node.append(onnx.helper.make_node("Loop", ["", ""], ["c"], body=body))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (point_outside, "refers to other files"),
        (add_loop, "has loops or branches"),
        (lambda model: model.opset_import.add(domain="foreign", version=1), "not onnxruntime's own"),
        (lambda model: model.graph.output.pop(), "expected some of"),
        (lambda model: model.graph.node.pop(), "not a graph that can be run"),
    ],
)
def test_a_graph_from_somebody_else_is_checked(folder, change, reason):
    rewrite(folder, change)
    with pytest.raises(ModelFormatError, match=reason):
        load_model(folder)


def test_other_encoders_than_the_methods_are_refused(folder):
    config = read_json(folder / "config.json")
    config["export"]["encoders"] = ["net.other"]
    write_json(folder / "config.json", config)
    write_manifest(folder)
    with pytest.raises(ModelFormatError, match=r"export\.encoders: saw \['net.other'\]"):
        load_model(folder)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (lambda: tiny_model("un_rat", encoder={"name": "gru"}), "not a transformer"),
        (lambda: tiny_model("full_text"), r"gradient_x_input\) need gradients"),
        (lambda: tiny_model("full_text", attribution="attention"), "need the weights of attention"),
    ],
)
def test_what_cannot_be_exported_is_refused_with_the_reason(tmp_path, model, reason):
    with pytest.raises(ConfigError, match=f"cannot be exported: .*{reason}"):
        export(model(), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_an_export_is_not_exported_again(exported, tmp_path):
    with pytest.raises(ConfigError, match="it is an export already"):
        export(load_model(exported), tmp_path / "again")


def test_leave_one_out_needs_no_gradient(tmp_path):
    model = tiny_model("full_text", attribution="leave_one_out")
    export(model, tmp_path / "model")
    assert_same(model, load_model(tmp_path / "model"), tolerance=1e-3)  # scores are stretched differences


def test_a_method_that_takes_gradients_is_refused_when_tried(tmp_path, monkeypatch):
    def explain_by_slope(self, batch):
        with torch.enable_grad():
            return self.label_from_mask(batch, batch.selectable.float().requires_grad_())

    monkeypatch.setattr(UnRAT, "explain", explain_by_slope)
    with pytest.raises(ConfigError, match="cannot be exported: an exported encoder has no gradients"):
        export(tiny_model("un_rat"), tmp_path / "model")


def test_vectors_that_differ_are_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("rationalize.runs.model_export.measure_difference_of", lambda *given: 0.01)
    with pytest.raises(EncoderError, match=r"differ by up to 0\.01 .* expected at most 0\.0001"):
        export(tiny_model("un_rat"), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_graphs_run_on_the_cpu_alone(exported, monkeypatch):
    monkeypatch.setattr("rationalize.devices.list_devices", lambda: ["cuda:0", "cpu"])
    loaded = load_model(exported, "auto")
    assert next(loaded.method.parameters()).device.type == "cpu"
    with pytest.raises(ConfigError, match="runs on cpu"):
        loaded.to("cuda")


@pytest.mark.parametrize("package", ["onnx", "onnxruntime"])
def test_a_missing_package_is_named_with_the_extra(exported, tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    advice = rf"package {package} is missing.*rationalize\[onnx\]"
    with pytest.raises(ConfigError, match=advice):
        load_model(exported)
    with pytest.raises(ConfigError, match=advice):
        export(tiny_model("un_rat"), tmp_path / "model")


def test_threads_follow_those_of_torch(exported, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    encoder = next(each for each in load_model(exported).method.modules() if isinstance(each, OnnxEncoder))
    assert encoder.graph._session.get_session_options().intra_op_num_threads == 3


def test_config_tells_what_it_is(exported):
    described = json.loads((exported / "config.json").read_text(encoding="utf-8"))["export"]
    assert described["encoders"] == ["net.encoder"]
    assert described["int8"] is False
