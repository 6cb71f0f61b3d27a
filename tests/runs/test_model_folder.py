"""The saved model: the same explanations after loading, and refusal of anything that is not whole."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from helpers import tiny_corpus, tiny_model
from local_encoders import save_local
from rationalize.errors import ConfigError, ModelFormatError
from rationalize.files import read_json, write_json, write_manifest
from rationalize.models.encoder import EncoderFactory
from rationalize.models.tokenizer import load_tokenizer, train_tokenizer
from rationalize.runs.model_folder import Model, ModelConfig, build_method, load_model, save_model
from rationalize.types import Example

LONG = Example("long", " ".join(each.text for each in tiny_corpus(8)), query="is it good ?")


def explanations(model):
    return [each.explanation for each in model.engine().explain([*tiny_corpus(6), LONG, Example("e", "")])]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "model"
    save_model(folder, tiny_model("semi_rat"), "# card\n")
    return folder


@pytest.fixture
def folder(saved, tmp_path):
    """A copy that may be damaged."""
    return shutil.copytree(saved, tmp_path / "model")


@pytest.mark.parametrize("method", ["un_rat", "sup_rat", "semi_rat"])
@pytest.mark.parametrize("encoder", ["tiny", "gru"])
@pytest.mark.parametrize("shared", [True, False])
def test_a_loaded_model_explains_as_the_saved_one(tmp_path, method, encoder, shared):
    model = tiny_model(method, encoder={"name": encoder}, selection={"shared_encoder": shared, "share": 0.3})
    save_model(tmp_path / "model", model, "")
    loaded = load_model(tmp_path / "model")
    assert loaded.config == model.config
    assert explanations(loaded) == explanations(model)
    assert not loaded.method.training


@pytest.mark.parametrize("kind", ["roberta", "llama", "gpt2"])
@pytest.mark.parametrize("masking", ["mix", "attention"])
def test_a_pretrained_encoder_needs_its_folder_no_more(tmp_path, kind, masking):
    source = tmp_path / "source"
    save_local(kind, source)
    template = tiny_model("un_rat", selection={"masking": masking}).config
    encoder = template.encoder.model_copy(update={"name": str(source), "max_tokens": 32})
    config = template.model_copy(update={"encoder": encoder})
    tokenizer = load_tokenizer(str(source))
    model = Model(config, build_method(config, EncoderFactory(encoder, tokenizer)).eval(), tokenizer)
    before = explanations(model)
    save_model(tmp_path / "model", model, "")
    shutil.rmtree(source)
    assert explanations(load_model(tmp_path / "model")) == before


def test_layers_that_were_left_out_stay_out(tmp_path):
    source = tmp_path / "source"
    save_local("roberta", source)
    template = tiny_model("un_rat").config
    changed = {"name": str(source), "max_tokens": 32, "keep_layers": 1}
    config = template.model_copy(update={"encoder": template.encoder.model_copy(update=changed)})
    tokenizer = load_tokenizer(str(source))
    model = Model(config, build_method(config, EncoderFactory(config.encoder, tokenizer)).eval(), tokenizer)
    save_model(tmp_path / "model", model, "")
    shutil.rmtree(source)
    loaded = load_model(tmp_path / "model")
    assert loaded.config.encoder.keep_layers == 1
    assert read_json(tmp_path / "model" / "encoder.json")["num_hidden_layers"] == 1
    assert explanations(loaded) == explanations(model)


def test_the_folder_holds_what_it_should_and_no_pickle(saved):
    names = {path.relative_to(saved).as_posix() for path in saved.rglob("*") if path.is_file()}
    expected = {"MANIFEST.json", "README.md", "config.json", "encoder.json", "model.safetensors"}
    assert expected | {"tokenizer/tokenizer.json"} <= names
    for name in names:
        assert name.endswith((".json", ".md", ".safetensors", ".jinja", ".txt")), name
        assert not (saved / name).read_bytes().startswith((b"\x80", b"PK")), f"{name} looks pickled"
    config = read_json(saved / "config.json")
    assert config["schema_version"] == 2
    assert config["labels"] == ["NEG", "POS"]


def test_a_shared_encoder_is_saved_once(saved, tmp_path):
    save_model(tmp_path / "apart", tiny_model("semi_rat", selection={"shared_encoder": False}), "")
    one, two = ((path / "model.safetensors").stat().st_size for path in (saved, tmp_path / "apart"))
    assert two > 1.8 * one


def test_saving_does_not_depend_on_what_was_read_before(tmp_path):
    model = replace(tiny_model("un_rat"), tokenizer=train_tokenizer([LONG.text], 400))
    save_model(tmp_path / "before", model, "")
    explanations(model)
    save_model(tmp_path / "after", model, "")
    before, after = (read_json(tmp_path / name / "MANIFEST.json")["files"] for name in ("before", "after"))
    assert before == after


def flip_a_byte(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut_short(path):
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("damage", [flip_a_byte, cut_short, lambda path: path.unlink()])
@pytest.mark.parametrize(
    "name", ["model.safetensors", "config.json", "encoder.json", "README.md", "tokenizer/tokenizer.json"]
)
def test_damage_is_refused_and_the_file_named(folder, name, damage):
    damage(folder / name)
    with pytest.raises(ModelFormatError) as error:
        load_model(folder)
    assert str(folder / name) in str(error.value)


def rewrite(folder, **changes):
    config = read_json(folder / "config.json")
    write_json(folder / "config.json", {**config, **changes})
    write_manifest(folder)


@pytest.mark.parametrize("version", [1, 3, "2", None])
def test_another_schema_version_is_refused(folder, version):
    rewrite(folder, schema_version=version, package_version="9.9")
    with pytest.raises(ModelFormatError, match=r"schema_version .*, expected 2") as error:
        load_model(folder)
    assert str(folder / "config.json") in str(error.value)
    assert "9.9" in str(error.value)


def test_weights_of_another_shape_are_refused(folder):
    rewrite(folder, labels=["a", "b", "c"])
    with pytest.raises(ModelFormatError, match=r"model\.safetensors: .*shape"):
        load_model(folder)


def test_weights_of_another_method_are_refused(folder):
    options = read_json(folder / "config.json")["options"]
    rewrite(folder, options={**options, "selection": {**options["selection"], "shared_encoder": False}})
    with pytest.raises(ModelFormatError, match=r"Missing: \['net.selector_encoder"):
        load_model(folder)


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(ModelFormatError, match="no such model folder"):
        load_model(tmp_path / "absent")
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(ModelFormatError, match=r"MANIFEST\.json: missing"):
        load_model(tmp_path)


def test_a_run_folder_stands_for_its_model(saved):
    assert explanations(load_model(saved.parent)) == explanations(load_model(saved))


def test_a_failed_save_keeps_the_old_model(folder, monkeypatch):
    before = read_json(folder / "MANIFEST.json")
    model = tiny_model("semi_rat", seed=5)

    def full_disk(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr("rationalize.runs.model_folder.write_text", full_disk)
    with pytest.raises(OSError, match="no space"):
        save_model(folder, model, "")
    assert read_json(folder / "MANIFEST.json") == before
    load_model(folder)


def test_loading_draws_on_no_ambient_randomness(saved):
    torch.manual_seed(0)
    first = explanations(load_model(saved))
    torch.manual_seed(1)
    assert explanations(load_model(saved)) == first


def test_model_config_is_plain_json(saved):
    config = ModelConfig(**read_json(saved / "config.json"))
    assert json.loads(config.model_dump_json()) == read_json(saved / "config.json")


def test_a_model_is_loaded_and_moved_to_the_device_that_was_chosen(saved, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ModelFormatError, match="no such"):
        load_model(saved / "gone", "cpu")
    for use in (lambda: load_model(saved, "cuda"), lambda: load_model(saved).to("cuda")):
        with pytest.raises(ConfigError, match="device: 'cuda' is not available"):
            use()
    monkeypatch.setattr("rationalize.runs.model_folder.resolve_device", torch.device)
    for moved in (load_model(saved, "meta"), load_model(saved, "cpu").to("meta")):
        assert {parameter.device.type for parameter in moved.method.parameters()} == {"meta"}


@pytest.mark.parametrize(("method", "shared"), [("un_rat", True), ("un_rat", False), ("car", False)])
def test_a_shallow_selector_is_as_shallow_when_it_is_loaded(tmp_path, method, shared):
    chosen = {"shared_encoder": shared, "layers": 1}
    model = tiny_model(method, encoder={"layers": 3}, selection=chosen)
    save_model(tmp_path / "model", model, "")
    loaded = load_model(tmp_path / "model")
    assert [*loaded.method.state_dict()] == [*model.method.state_dict()]
    assert explanations(loaded) == explanations(model)


def edit(folder, name, **changes):
    write_json(folder / name, {**read_json(folder / name), **changes})


DISGUISED = {
    "a kernel from the hub": lambda folder: edit(folder, "encoder.json", _attn_implementation="some/kernel"),
    "code beside the encoder": lambda folder: edit(
        folder, "encoder.json", auto_map={"AutoModel": "evil.Evil"}
    ),
    "code beside the tokenizer": lambda folder: edit(
        folder, "tokenizer/tokenizer_config.json", auto_map={"AutoTokenizer": ["evil.Evil", None]}
    ),
    "no text model": lambda folder: edit(folder, "encoder.json", model_type="vit"),
    "layers without end": lambda folder: edit(folder, "encoder.json", num_hidden_layers=10**9),
    "a matrix of terabytes": lambda folder: edit(folder, "encoder.json", vocab_size=2**31),
    "an additional file": lambda folder: (folder / "extra.py").write_text("1"),
    "no weights": lambda folder: (folder / "model.safetensors").unlink(),
    "names twice": lambda folder: (folder / "encoder.json").write_text(
        '{"model_type": "bert", "model_type": "x"}'
    ),
    "deep JSON": lambda folder: (folder / "config.json").write_text("[" * 100_000),
    "labels twice": lambda folder: edit(folder, "config.json", labels=["a", "a"]),
    "an unknown method": lambda folder: edit(folder, "config.json", method="none_such"),
}


@pytest.mark.parametrize("disguise", DISGUISED)
def test_a_consistent_manifest_makes_no_model(folder, disguise):
    DISGUISED[disguise](folder)
    write_manifest(folder)
    with pytest.raises(ModelFormatError) as error:
        load_model(folder)
    assert str(folder) in str(error.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(folder, value):
    path = folder / "model.safetensors"
    tensors = load_file(path)
    first = min(tensors)
    tensors[first].view(-1)[0] = value
    save_file(tensors, path)
    write_manifest(folder)
    with pytest.raises(ModelFormatError, match=f"{first} holds values that are not finite"):
        load_model(folder)


def test_weights_of_another_kind_are_refused(folder):
    path = folder / "model.safetensors"
    tensors = load_file(path)
    save_file({name: tensor.half() for name, tensor in tensors.items()}, path)
    write_manifest(folder)
    with pytest.raises(ModelFormatError, match=r"of F16, expected shape .* of F32"):
        load_model(folder)


def test_links_are_refused_but_for_those_of_the_hubs_own_cache(folder, tmp_path):
    blobs, snapshot = tmp_path / "hub" / "blobs", tmp_path / "hub" / "snapshots" / "abc"
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder)
        (snapshot / name).parent.mkdir(parents=True, exist_ok=True)
        blobs.mkdir(exist_ok=True)
        blob = shutil.copy(path, blobs / "-".join(name.parts))
        (snapshot / name).symlink_to(blob)
    (snapshot / ".gitattributes").write_text("*.safetensors lfs")
    assert explanations(load_model(snapshot)) == explanations(load_model(folder))
    (snapshot / "README.md").unlink()
    (snapshot / "README.md").symlink_to(folder / "README.md")
    with pytest.raises(ModelFormatError, match="a link"):
        load_model(snapshot)
