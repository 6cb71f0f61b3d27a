"""One run, described: what is trained on what, and how. YAML in, dotted overrides, a resolved copy out.

Every default is visible here or in the method's own `Config`; nothing is hidden in code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from rationalize.errors import ConfigError

Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0)]
Device = Annotated[str, Field(pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")]
Settings = dict[str, Any]
"""Values by dotted name: `{"training.epochs": 5}`."""


KEPT = ConfigDict(frozen=True, use_attribute_docstrings=True, allow_inf_nan=False)


class Strict(BaseModel):
    """A config that knows all its fields: an unknown or mistyped one is an error."""

    model_config = ConfigDict(extra="forbid", **KEPT)


class FieldsConfig(Strict):
    """What the fields or columns of the data are called (ERASER's layout has its own)."""

    text: str = "text"
    """The text: a string or a list of tokens."""
    label: str = "label"
    id: str = "id"
    query: str = "query"
    rationale: str = "rationale"
    """Gold: spans, marks of 0 and 1 for tokens, or the words themselves."""


class DataConfig(Strict):
    """Which examples, how they are read, and how much of their annotation may be seen."""

    path: str | None = None
    """A folder, an archive or a file (see `rationalize data --help`)."""
    name: str | None = None
    """What presets call the data set (movies, fever …), for the settings that they have for it. None: what
    `data get` has recorded in its folder; the folder's own name means nothing."""
    train: str = "train"
    """Name of the training split."""
    dev: str = "dev"
    """Name of the split on which epochs are chosen (val, valid and validation are dev). Test is never looked at."""
    fields: FieldsConfig = FieldsConfig()
    words: Literal["auto", "unicode", "whitespace"] = "auto"
    """What a word is: as Unicode has it, punctuation apart, or what white space separates. auto: as the data set has
    it, which is whitespace for ERASER's layout and rows of tokens, else unicode."""
    partial_words: Literal["widen", "shrink", "drop"] = "widen"
    """Gold spans that cut a word count for the whole word, are shrunk to whole words, or are dropped."""
    annotators: Literal["majority", "union"] = "majority"
    """Which tokens are gold where several people marked: those that at least half of them did, or that any did."""
    drop_unlabeled: bool = False
    """Leave out rows without a label instead of refusing them."""
    limit: Annotated[int, Field(gt=0)] | None = None
    """Train on at most this many examples (a stratified sample), for quick runs."""
    dev_limit: Annotated[int, Field(gt=0)] | None = None
    """Choose epochs on at most this many dev examples."""
    gold_share: Share = 0.25
    """Share of the training examples whose gold rationale may be used (semi-supervised methods)."""
    query: Literal["auto", "always", "never"] = "auto"
    """Whether the query is read. auto: unless it is the same for every example, when it tells nothing."""

    @field_validator("train", "dev")
    @classmethod
    def _name_dev(cls, name: str) -> str:
        return "dev" if name in {"val", "valid", "validation"} else name


class EncoderConfig(Strict):
    """What turns word pieces into vectors."""

    name: str = "minilm"
    """minilm, tiny, gru, or any Hugging Face id or local folder."""
    max_tokens: Annotated[int, Field(ge=8)] = 512
    """Word pieces per input, specials and query included. Training truncates; explanation uses windows."""
    pooling: Literal["auto", "cls", "mean", "last"] = "auto"
    """How a text becomes one vector. auto: cls where the encoder was trained with it, else mean or last."""
    dropout: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Dropout on hidden states; None keeps the encoder's own."""
    attention_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Dropout on attention weights; above 0 it leaves the fused attention on CPU and halves the speed."""
    hidden_size: Annotated[int, Field(gt=0)] = 128
    """Width of `tiny` and `gru`."""
    layers: Annotated[int, Field(gt=0)] = 2
    """Depth of `tiny` and `gru`."""
    heads: Annotated[int, Field(gt=0)] = 4
    """Attention heads of `tiny`."""
    vocabulary: Annotated[int, Field(ge=100)] = 4000
    """Largest vocabulary that `tiny` and `gru` learn from the training text."""


class TrainingConfig(Strict):
    """How long, how fast, how often it is saved."""

    epochs: Annotated[int, Field(gt=0)] = 10
    epoch_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of its batches that a phase takes in an epoch, others each time: for dev scores more often, or a smaller
    budget without giving up examples."""
    batch_size: Annotated[int, Field(gt=0)] = 16
    """Examples per step."""
    batch_tokens: Annotated[int, Field(gt=0)] | None = None
    """If set, also a limit of word pieces (padding included) per step."""
    micro_batch: Annotated[int, Field(gt=0)] | None = None
    """Examples per backward pass; the step's gradient is the same, its memory smaller."""
    learning_rate: Annotated[float, Field(gt=0)] = 1e-4
    """Of encoders."""
    head_learning_rate: Annotated[float, Field(gt=0)] | None = 1e-3
    """Of everything else, which starts from random weights; None: the encoders'."""
    weight_decay: Weight = 0.01
    """Not applied to biases and normalization weights."""
    warmup: Share = 0.1
    """Share of all steps in which the learning rate rises; it then falls linearly to 0."""
    clip_norm: Annotated[float, Field(gt=0)] = 1.0
    warm_start: Annotated[int, Field(ge=0)] = 0
    """Epochs in which a plain classifier learns the labels from the full texts first; all encoders of the run, and
    linear class heads, start as copies of its own. 0: they start as pretrained and seeded. Worth it where time is
    short: words can hardly be selected for a label before anything knows what the label is about."""
    interleave: bool = False
    """Mix the phases' batches inside an epoch instead of running phase after phase."""
    select_by: Literal["auto", "task_f1", "token_f1", "task_and_token_f1", "last"] = "auto"
    """Which dev score picks the epoch. auto: task F1 for methods that use no gold rationales, token F1 for those
    that do, unless task F1 is more than 0.1 below the best: dev has the shortcuts of train, so its task F1 alone
    prefers the epochs that lean on them."""
    patience: Annotated[int, Field(gt=0)] | None = None
    """Stop after this many epochs without a better dev score."""
    checkpoint_every: Annotated[int, Field(gt=0)] = 200
    """Steps between checkpoints; every epoch ends with one too."""
    keep_checkpoints: Annotated[int, Field(ge=1)] = 2
    log_every: Annotated[int, Field(gt=0)] = 50
    """Steps between rows of losses in metrics.jsonl."""
    keep: Literal["model", "all"] = "model"
    """What stays in the run folder when training is over. model: the model, logs, results and small artifacts;
    all: checkpoints and the models of artifacts too, so that epochs can be added later."""
    cache: str = "auto"
    """Where artifacts are kept that runs can have in common: a folder, off, or auto: the folder named by the
    environment variable RATIONALIZE_CACHE, else `rationalize` in the user's cache folder."""


class FinderSelection(BaseModel):
    """How the finder selects; the other settings of un_rat's `selection` may be given too.

    Soft masks spread thin, and few of their words make a phrase, hence hard samples and the best pieces.
    """

    model_config = ConfigDict(extra="allow", **KEPT)

    share: Share | None = None
    """Wanted share of selected pieces; None: that of the run's own method."""
    masking: str | None = None
    """How unselected pieces are hidden; None: as the run's own method does."""
    sampler: str = "gumbel_hard"
    decoding: str = "topk"


class FinderConfig(Strict):
    """Options of the un_rat that finds shortcuts."""

    selection: FinderSelection = FinderSelection()


class ShortcutsConfig(Strict):
    """How shortcuts are found in the annotated examples (methods and augmentations that need them)."""

    source: Literal["discovered", "known", "random"] = "discovered"
    """discovered: by a trained un_rat; known: as the data say (planted corpora); random: spans of the same
    lengths anywhere outside gold, a control."""
    min_run: Annotated[int, Field(ge=1)] = 3
    """Shortest run of words that counts as a shortcut."""
    require_correct: bool = False
    """Only where un_rat gets the label right."""
    epochs: Annotated[int, Field(gt=0)] | None = None
    """Epochs of that un_rat; None: as the run."""
    finder: FinderConfig = FinderConfig()
    """Its options."""
    uniform_weight: Weight | None = None
    """λ_unif: adds λ_unif · KL(U ‖ q(y | shortcuts)) to the supervised phase of any method that reads gold rationales.
    None: what the method asks for (0.1 for ssr_unif, 0 for the others)."""
    uniform_kl: Literal["uniform_to_q", "q_to_uniform"] = "uniform_to_q"
    """Direction of that divergence: as printed in the SSR paper, or as in its released code."""
    propagate: Literal["none", "phrase", "nearest"] = "none"
    """Beyond the paper: carry the shortcuts of annotated examples over to those without annotation, whose phase
    then works on them too. phrase: the same words; nearest: also runs of words near them to the finder."""
    propagate_least: Annotated[int, Field(ge=1)] = 2
    """Carry over only phrases found in at least this many annotated examples, so that noise does not spread."""
    rounds: Annotated[int, Field(ge=1)] = 1
    """Beyond the paper: rounds of discovery. From the second on, the method as trained in the round before is the
    finder, what it still selects outside gold is added to the shortcuts, and the method is trained anew."""


class AugmentConfig(Strict):
    """Copies of annotated examples with their shortcut words replaced."""

    kind: Literal["none", "random", "semantic", "mixed"] = "none"
    share: Share = 0.25
    """Augmented copies (of each kind), as a share of the training examples."""


class PresetUse(Strict):
    """What a preset has contributed to a run. A record: nothing reads it back.

    Attributes:
        name: The preset.
        data: The data set whose part of it was taken; None: only the part for all.
        applied: Its settings that were used, by dotted name; what was given besides goes before them.
        skipped: Names of those that the method does not have.
    """

    name: str
    data: str | None = None
    applied: Settings = {}
    skipped: tuple[str, ...] = ()


class RunConfig(Strict):
    """Everything that decides what a run will be."""

    method: str = "semi_rat"
    options: dict[str, Any] = {}
    """The method's own settings; `rationalize methods NAME` lists them."""
    seed: Annotated[int, Field(ge=0)] = 0
    device: Device = "auto"
    """Where it runs: cpu, cuda, cuda:1 …, mps, or auto: the first graphics processor there is, else cpu."""
    data: DataConfig = DataConfig()
    encoder: EncoderConfig = EncoderConfig()
    training: TrainingConfig = TrainingConfig()
    shortcuts: ShortcutsConfig = ShortcutsConfig()
    augment: AugmentConfig = AugmentConfig()
    preset: PresetUse | None = None
    """Where some of these settings come from."""


def validate(kind: type[BaseModel], values: Any, where: str) -> Any:
    """Build a config model, turning pydantic's complaints into one clear ConfigError."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        lines = [f"{where}: {error.error_count()} setting(s) cannot be used."]
        for problem in error.errors():
            field = ".".join(str(part) for part in problem["loc"]) or "(top level)"
            if problem["type"] == "extra_forbidden":
                lines.append(f"  {field}: unknown. Known here: {', '.join(_fields_at(kind, problem['loc']))}")
            else:
                lines.append(f"  {field}: {problem['msg']} (got {problem['input']!r})")
        raise ConfigError("\n".join(lines)) from None


def _fields_at(kind: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    for part in location[:-1]:
        annotation = kind.model_fields[str(part)].annotation if str(part) in kind.model_fields else None
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            break
        kind = annotation
    return sorted(kind.model_fields)


def to_yaml(config: BaseModel) -> str:
    """The config as YAML, every default spelled out."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
