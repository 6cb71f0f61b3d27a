"""A model whose probabilities can be worked out on paper: the log-odds of POS are the sum of its words' weights."""

from __future__ import annotations

import math
from types import SimpleNamespace

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from rationalize.inference.engine import Engine
from rationalize.methods.base import Output
from rationalize.text.windows import TextEncoder

LABELS = ("NEG", "POS")
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WEIGHTS = {"good": 2.0, "bad": -1.0, "film": 0.5, "plot": -0.25, "dire": -4.0, "[MASK]": 0.125, "the": 0.0}
SCORES = {"good": 0.9, "bad": 0.8, "dire": 0.8, "film": 0.5, "plot": 0.5, "the": 0.1}
CHOSEN = ("good", "dire")
WORDS = (*SPECIALS, *(word for word in WEIGHTS if word not in SPECIALS))


class Sum(torch.nn.Module):
    """Selects `CHOSEN`, scores by `SCORES`, decides by the sum of `WEIGHTS` of all that it is given."""

    faithful = False
    about = SimpleNamespace(name="sum")

    def __init__(self):
        super().__init__()
        self.anchor = torch.nn.Parameter(torch.zeros(1))
        self.seen: list[list[str]] = []

    def explain(self, batch):
        def look_up(values):
            return torch.tensor([float(values.get(word, 0.0)) for word in WORDS])[batch.input_ids]

        self.seen += [
            [WORDS[piece] for piece in row[real]]
            for row, real in zip(batch.input_ids, batch.attention, strict=True)
        ]
        mask = look_up(dict.fromkeys(CHOSEN, 1.0)).bool() & batch.selectable
        total = (look_up(WEIGHTS) * batch.attention).sum(-1)
        logits = torch.stack([torch.zeros_like(total), total], -1)
        return Output(mask, look_up(SCORES) * batch.selectable, logits, full_text=logits)

    decide = explain


def engine(max_tokens: int = 64) -> Engine:
    core = Tokenizer(models.WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    core.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    named = {f"{word[1:-1].lower()}_token": word for word in SPECIALS}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, **named)
    return Engine(Sum(), TextEncoder(tokenizer, max_tokens), LABELS)


def positive(*words: str) -> float:
    """The probability of POS for an input of these words."""
    return 1 / (1 + math.exp(-sum(WEIGHTS[word] for word in words)))
