"""One small fast tokenizer of every family, learned from a few lines in many scripts."""

from __future__ import annotations

from functools import cache
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from rationalize.models.tokenizer import load_tokenizer

LINES = (
    "the plot is thin but the acting is superb and the music is a joy",
    "an unbearably slow film with wonderful pictures and terrible jokes",
    "le café était très bon, naïve façade, coöperate",
    "東京都に住んでいます 東京都は大きい 東京都が好き",
    "这部电影非常好看 这部电影非常无聊",
    "🎉🎉 great 👍🏽 fun 🎉",
    "1999 2024 it's don't \"quoted\" (really)",
)


@cache
def byte_level(*, specials: bool = True, prefix_space: bool = True, trim: bool = True) -> Any:
    """Byte-level BPE as RoBERTa has it; without `specials` it adds none, as GPT-2."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    core.decoder = decoders.ByteLevel()
    names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=names, initial_alphabet=alphabet, show_progress=False
    )
    core.train_from_iterator(LINES * 3, trainer)
    if specials:
        core.post_processor = processors.RobertaProcessing(
            ("</s>", 2), ("<s>", 0), trim_offsets=trim, add_prefix_space=prefix_space
        )
        named = {"cls_token": "<s>", "sep_token": "</s>", "mask_token": "<mask>", "unk_token": "<unk>"}
        return PreTrainedTokenizerFast(
            tokenizer_object=core, pad_token="<pad>", bos_token="<s>", eos_token="</s>", **named
        )
    core.post_processor = processors.ByteLevel(trim_offsets=trim)
    return PreTrainedTokenizerFast(tokenizer_object=core, bos_token="</s>", eos_token="</s>")


@cache
def unigram(*, llama: bool = False) -> Any:
    """SentencePiece-like Unigram with `▁`, whose pieces may hold several Chinese or Japanese words.

    With XLM-R's specials, or with LLaMA's (a mere `<s>` in front, no class or mask token).
    """
    core = Tokenizer(models.Unigram())
    core.normalizer = normalizers.NFKC()
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    core.decoder = decoders.Metaspace()
    names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=200, special_tokens=names, unk_token="<unk>", show_progress=False
    )
    core.train_from_iterator(LINES * 3, trainer)
    ids = [("<s>", 0), ("</s>", 2)]
    single, pair = ("<s> $A", "<s> $A $B") if llama else ("<s> $A </s>", "<s> $A </s> </s> $B </s>")
    core.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=ids)
    named = {} if llama else {"cls_token": "<s>", "sep_token": "</s>", "mask_token": "<mask>"}
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        **({} if llama else {"pad_token": "<pad>"}),
        **named,
    )


FAMILIES = {
    "wordpiece": cache(lambda: load_tokenizer("minilm")),
    "byte_level": byte_level,
    "byte_level_untrimmed": lambda: byte_level(trim=False),
    "byte_level_no_prefix_space": lambda: byte_level(prefix_space=False),
    "unigram": unigram,
    "unigram_llama": lambda: unigram(llama=True),
}
