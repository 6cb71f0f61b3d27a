"""Building blocks that several methods share: encoders, masking, samplers, decoding, losses, the CRF."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.models.classifier import Classifier as Classifier
    from rationalize.models.crf import Crf as Crf
    from rationalize.models.encoder import EncoderFactory as EncoderFactory
    from rationalize.models.encoder_import import get_encoder as get_encoder
    from rationalize.models.masking import MASKINGS as MASKINGS
    from rationalize.models.masking import pool_masked as pool_masked
    from rationalize.models.masking import read_masked as read_masked
    from rationalize.models.rationale_net import RationaleNet as RationaleNet
    from rationalize.models.reading import Encoder as Encoder
    from rationalize.models.reading import Reading as Reading
    from rationalize.models.samplers import SAMPLERS as SAMPLERS
    from rationalize.models.tokenizer import load_tokenizer as load_tokenizer
    from rationalize.models.tokenizer import train_tokenizer as train_tokenizer

_HOMES = {
    "Classifier": "classifier",
    "Crf": "crf",
    "Encoder": "reading",
    "EncoderFactory": "encoder",
    "MASKINGS": "masking",
    "RationaleNet": "rationale_net",
    "Reading": "reading",
    "SAMPLERS": "samplers",
    "get_encoder": "encoder_import",
    "load_tokenizer": "tokenizer",
    "pool_masked": "masking",
    "read_masked": "masking",
    "train_tokenizer": "tokenizer",
}
__all__ = [
    "MASKINGS",
    "SAMPLERS",
    "Classifier",
    "Crf",
    "Encoder",
    "EncoderFactory",
    "RationaleNet",
    "Reading",
    "get_encoder",
    "load_tokenizer",
    "pool_masked",
    "read_masked",
    "train_tokenizer",
]
__getattr__ = open_room(__name__, _HOMES)
