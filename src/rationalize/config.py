"""A run's settings, and their validation.

Every default is visible here or in the method's own `Config`; none is hidden in code.
"""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from rationalize.errors import ConfigError
from rationalize.format_names import ReadAs

Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0)]
Device = Annotated[str, Field(pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")]
Precision = Literal["fp32", "bf16"]
"""Of matrix products inside encoders that explain; training also knows fp16."""
LARGEST = 2**63 - 1
"""What numbers of steps, texts and seeds are kept in."""
Settings = dict[str, Any]
"""Values by dotted name: `{"training.epochs": 5}`."""


FROZEN = ConfigDict(frozen=True, use_attribute_docstrings=True, allow_inf_nan=False)


class Strict(BaseModel):
    """A config that refuses unknown fields and values of the wrong type."""

    model_config = ConfigDict(extra="forbid", **FROZEN)

    @field_validator("*")
    @classmethod
    def _check_size(cls, value: Any) -> Any:
        if (
            isinstance(value, int) and abs(value) > LARGEST
        ):  # or it would end the run later, as no step has its number
            raise ValueError(f"Input should be at most {LARGEST}")
        return value


class FieldsConfig(Strict):
    """Names of the data's fields or columns (ERASER's layout has fixed names)."""

    text: str = "text"
    """The text: a string or a list of tokens."""
    label: str = "label"
    id: str = "id"
    query: str = "query"
    rationale: str = "rationale"
    """Gold: spans, one 0 or 1 per token, or the words themselves."""


class ReadingConfig(Strict):
    """How to read a data set."""

    fields: FieldsConfig = FieldsConfig()
    words: Literal["auto", "unicode", "whitespace"] = "auto"
    """How to split words. unicode: by Unicode properties, with punctuation separate; whitespace: at white space;
    auto: whitespace for ERASER's layout and rows of tokens, else unicode."""
    partial_words: Literal["widen", "shrink", "drop"] = "widen"
    """What to do with gold spans that cut a word: widen or shrink them to whole words, or drop them."""
    annotators: Annotated[str, Field(min_length=1)] = "majority"
    """What is gold if several people annotated. majority: what at least half of them marked; union: any of them;
    intersection: all of them; or the name of one person."""
    drop_unlabeled: bool = False
    """Skip rows without a label instead of refusing them."""
    read_as: Literal["auto", ReadAs] = "auto"
    """The format of the data, if it is not to be recognized: plain rows, ERASER's layout, or an annotation tool's."""


class DataConfig(ReadingConfig):
    """Which examples to use, how to read them, and how much of their annotation to use."""

    path: str | None = None
    """A folder, an archive or a file; docs/data.md lists the formats."""
    name: str | None = None
    """The data set's name in presets (movies, fever …), which chooses their settings for it. None: the name that
    `data get` recorded in its folder; the folder's own name is not used."""
    train: str = "train"
    """Name of the training split."""
    dev: str = "dev"
    """Name of the split for choosing epochs (val, valid and validation mean dev). Training never reads test."""
    limit: Annotated[int, Field(gt=0)] | None = None
    """Train on at most this many examples (a stratified sample), for quick runs."""
    dev_limit: Annotated[int, Field(gt=0)] | None = None
    """Choose epochs on at most this many dev examples."""
    gold_share: Share = 1.0
    """Share of the training examples whose gold rationale may be used by methods that learn from a part of it. The
    paper's protocol is 0.25, which its presets and comparisons set."""
    long_texts: Literal["windows", "truncate"] = "windows"
    """What training reads of a text that is longer than `encoder.max_tokens`. windows: one window of it in each epoch,
    all of them over time, and dev texts whole, as explaining does; truncate: the first window alone, as the papers do.
    """
    query: Literal["auto", "always", "never"] = "auto"
    """Whether to read the query. auto: unless it is the same for every example and so carries no information."""

    @field_validator("train", "dev")
    @classmethod
    def _normalize_dev(cls, name: str) -> str:
        return "dev" if name in {"val", "valid", "validation"} else name


class EncoderConfig(Strict):
    """The encoder, which turns word pieces into vectors."""

    name: str = "minilm"
    """minilm, gte_small, tiny, gru, or any Hugging Face id or local folder."""
    keep_layers: Annotated[int, Field(gt=0)] | None = None
    """Keep only this many of a pretrained encoder's layers, the first ones: less depth for less time. None: all."""
    max_tokens: Annotated[int, Field(ge=8)] = 512
    """Word pieces per input, special tokens and query included. Longer texts are read in windows (in training, see
    `data.long_texts`)."""
    pooling: Literal["auto", "cls", "mean", "last"] = "auto"
    """How a text becomes one vector. auto: cls if the encoder was trained with it, else mean or last."""
    dropout: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Dropout on hidden states; None keeps the encoder's own."""
    attention_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Dropout on attention weights; above 0, it disables fused attention on CPU and halves the speed."""
    hidden_size: Annotated[int, Field(gt=0)] = 128
    """Width of `tiny` and `gru`."""
    layers: Annotated[int, Field(gt=0)] = 2
    """Depth of `tiny` and `gru`."""
    heads: Annotated[int, Field(gt=0)] = 4
    """Attention heads of `tiny`."""
    vocabulary: Annotated[int, Field(ge=100)] = 4000
    """Largest vocabulary that `tiny` and `gru` learn from the training text."""


class TrainingConfig(Strict):
    """How long and how fast to train, and what to save."""

    epochs: Annotated[int, Field(gt=0)] = 10
    epoch_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of its batches that a phase uses per epoch, different ones each time: for more frequent dev scores, or a
    smaller budget without dropping examples."""
    batch_size: Annotated[int, Field(gt=0)] = 16
    """Examples per step."""
    batch_tokens: Annotated[int, Field(gt=0)] | None = None
    """If set, also limits the word pieces (padding included) per step."""
    micro_batch: Annotated[int, Field(gt=0)] | None = None
    """Examples per backward pass, for less memory (gradient accumulation). Every loss part counts by what it is a mean
    over, so that a step has the gradient of the whole batch, but for rounding, random draws (in another order) and
    what is computed over a batch as a whole: a share per batch, hinges between batch means, balanced weights,
    HardKuma's multipliers."""
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    """Of matrix products inside encoders while training. Weights, heads, losses and results stay in single precision;
    with bf16, epochs are also scored on dev in it. bf16 needs a recent GPU or CPU; fp16 scales losses, and leaves out
    steps that overflow."""
    gradient_checkpointing: bool = False
    """Keep no activations inside an encoder's layers, but compute them again in the backward pass: less memory for
    about a third more time. Changes no result."""
    sharding: Literal["none", "fsdp"] = "none"
    """On several processes: whether each keeps all of the weights, or (fsdp) a part of every encoder layer and its
    optimizer state, for encoders that do not fit. Embeddings and heads stay whole."""
    learning_rate: Annotated[float, Field(gt=0)] = 1e-4
    """For encoders."""
    head_learning_rate: Annotated[float, Field(gt=0)] | None = 1e-3
    """For everything else, which starts from random weights; None: same as for encoders."""
    weight_decay: Weight = 0.01
    """Not applied to biases and normalization weights."""
    warmup: Share = 0.1
    """Share of all steps during which the learning rate rises; it then falls linearly to 0."""
    clip_norm: Annotated[float, Field(gt=0)] = 1.0
    freeze_layers: Annotated[int, Field(ge=0)] | None = None
    """Embeddings and so many layers of every encoder, the first ones, do not learn: less time and memory. 0: embeddings
    alone; None: everything learns."""
    cache_frozen: bool = False
    """Read every full text through the frozen layers once, without dropout, and keep what they make of it in a file
    (in `training.cache`, else in the run folder): 4 bytes for each number of each piece's vector."""
    compile: bool = False
    """Compile encoder layers by torch.compile while training: faster steps on GPUs after some minutes of compiling. On
    a CPU it needs a C++ compiler. Results differ by rounding."""
    warm_start: Annotated[int, Field(ge=0)] = 0
    """Epochs for a plain classifier that first learns the labels from the full texts; all encoders and linear class
    heads of the run start as copies of its own. 0: encoders start pretrained, heads from random weights. Helps when
    time is short: a selector can hardly learn which words matter before a predictor knows the task."""
    teacher: str | None = None
    """A model folder. The run starts with that model's weights, and only its selector learns: to select as that model
    does, by the fewer layers of `options.selection.layers`. `rationalize distill` sets it."""
    interleave: bool = False
    """Mix the phases' batches inside an epoch instead of running phase after phase."""
    select_by: Literal["auto", "task_f1", "token_f1", "task_and_token_f1", "last"] = "auto"
    """Which dev score chooses the epoch; of equal ones, the later. auto: task F1 for methods without gold rationales;
    token F1 for methods with them, among epochs whose task F1 is at most 0.1 below the best. (Dev has the same
    shortcuts as train, so task F1 alone prefers epochs that rely on them.) Task F1 is that of the label from the
    rationale alone, for methods that learn to read it."""
    share_band: Annotated[float, Field(gt=0)] | None = 0.5
    """How far the share of dev words that an epoch selects may be from the wanted share, as a part of it; an epoch
    beyond is chosen only if there is no other. 0.5: from half to one and a half times as much as wanted; further off,
    task F1 rewards the amount and not the choice. Wanted is gold's share of dev for methods that learn from gold, else
    `selection.share`. Decodings with a fixed share (topk, span, calibrated) need none. None: choose at any share."""
    patience: Annotated[int, Field(gt=0)] | None = None
    """Stop after this many epochs without a better dev score."""
    checkpoint_every: Annotated[int, Field(gt=0)] = 200
    """Steps between checkpoints; every epoch also ends with one."""
    keep_checkpoints: Annotated[int, Field(ge=1)] = 2
    log_every: Annotated[int, Field(gt=0)] = 50
    """Steps between loss rows in metrics.jsonl."""
    keep: Literal["model", "all"] = "model"
    """What to keep in the run folder after training. model: the model, logs, results and small artifacts;
    all: also checkpoints and the models among artifacts, so that epochs can be added later."""
    report_to: Literal["none", "tensorboard", "mlflow", "wandb", "trackio"] = "none"
    """Where to report losses and dev scores besides the run folder; see docs/training.md."""
    map_from: Annotated[int, Field(ge=0)] = 20_000
    """From so many training texts on, they are kept in a temporary file, and their word pieces in another (in
    `training.cache`, else in the run folder; runs with the same texts and tokenizer share it); both are read from
    there batch by batch. Results stay the same."""
    cache: str = "auto"
    """Where to keep artifacts that runs share: a folder, off, or auto: the folder in the environment variable
    RATIONALIZE_CACHE, else `rationalize` in the user's cache folder."""

    @field_validator("cache", mode="before")
    @classmethod
    def _read_off(cls, value: Any) -> Any:
        return "off" if value is False else value  # YAML reads the bare word as a truth value


class FinderSelection(BaseModel):
    """How the finder selects; accepts un_rat's other `selection` settings, too.

    Soft masks scatter over single words and form few phrases, hence hard samples and the top pieces.
    """

    model_config = ConfigDict(extra="allow", **FROZEN)

    share: Share | None = None
    """Wanted share of selected pieces; None: same as the run's own method."""
    masking: str | None = None
    """How unselected pieces are hidden; None: same as the run's own method."""
    sampler: str = "gumbel_hard"
    decoding: str = "topk"


class FinderConfig(Strict):
    """Options for the un_rat that finds shortcuts."""

    selection: FinderSelection = FinderSelection()


class ShortcutsConfig(Strict):
    """How to find shortcuts in annotated examples, for methods and augmentations that need them."""

    source: Literal["discovered", "audit", "known", "random"] = "discovered"
    """discovered: found by a trained un_rat; audit: fixed phrases that go with a label in the training texts, annotated
    or not, as `shortcuts audit` finds them; known: given in the data; random: a control, spans of the same lengths
    anywhere outside gold."""
    min_run: Annotated[int, Field(ge=1)] | Literal["auto"] = "auto"
    """Shortest run of words that counts as a shortcut. auto: by the median length of the annotated texts, 1 below 30
    words, 2 below 60, else 3, as in the paper."""
    require_correct: bool = False
    """Look for shortcuts only in examples that un_rat classifies correctly."""
    epochs: Annotated[int, Field(gt=0)] | None = None
    """Epochs for that un_rat; None: same as the run."""
    finder: FinderConfig = FinderConfig()
    """Options for that un_rat."""
    uniform_weight: Weight | None = None
    """λ_unif: adds λ_unif · KL(U ‖ q(y | shortcuts)) to the supervised phase of any method that reads gold rationales.
    None: the method's default (0.1 for ssr_unif, 0 for the others)."""
    uniform_kl: Literal["uniform_to_q", "q_to_uniform"] = "uniform_to_q"
    """Direction of that divergence: as in the SSR paper (uniform_to_q), or as in its released code (q_to_uniform)."""
    propagate: Literal["none", "phrase", "nearest"] = "none"
    """Beyond the paper: carry shortcuts over from annotated examples to the rest, whose phase then uses them, too.
    phrase: the same words; nearest: also runs of words with similar vectors in the finder."""
    propagate_least: Annotated[int, Field(ge=1)] = 2
    """Carry over only phrases found in at least this many annotated examples, to keep noise from spreading."""
    exchange: bool = False
    """Beyond the paper: before anything is trained, deal the shortcuts of the training texts out anew, whatever the
    labels: those that an audit finds, or with `source: known` those that are given. For every method."""
    rounds: Annotated[int, Field(ge=1)] = 1
    """Beyond the paper: number of discovery rounds. From the second round on, the method trained in the previous
    round is the finder; what it still selects outside gold joins the shortcuts, and the method is trained again."""


Augmentation = Literal["none", "random", "semantic", "mixed", "counterfactual"]


class AugmentConfig(Strict):
    """Copies of annotated examples with their shortcut words replaced, or their evidence (counterfactual)."""

    kind: Augmentation = "none"
    """random, semantic, mixed: other words in place of shortcuts that were found. counterfactual: evidence of any label
    in place of the example's own, and that label; nothing has to be found."""
    share: Share = 0.25
    """Number of augmented copies (of each kind), as a share of the training examples."""
    exact_vectors: Annotated[int, Field(ge=1)] = 200_000
    """Semantic: word vectors that are held in memory, and texts among which the nearest is searched for exactly. More
    word vectors are kept in a temporary file; among more texts, an index finds near ones, and its recall is noted."""

    @property
    def replaces_shortcuts(self) -> bool:
        """Whether the copies need shortcuts that were found."""
        return self.kind not in {"none", "counterfactual"}


class PresetUse(Strict):
    """What a preset contributed to a run. Only a record; it changes nothing.

    Attributes:
        name: The preset's name.
        data: The data set whose part of the preset was used; None: only the common part.
        applied: The preset's settings that were used, by dotted name; given settings override the preset's.
        skipped: Names of the preset's settings that the method lacks.
        reasons: Why the preset `auto` chose what it chose.
    """

    name: str
    data: str | None = None
    applied: Settings = {}
    skipped: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


class RunConfig(Strict):
    """All settings of a run."""

    method: str = "semi_rat"
    options: dict[str, Any] = {}
    """The method's own settings; `rationalize methods NAME` lists them."""
    seed: Annotated[int, Field(ge=0)] = 0
    device: Device = "auto"
    """Where to run: cpu, cuda, cuda:1 …, mps, or auto: the first GPU if there is one, else cpu."""
    data: DataConfig = DataConfig()
    encoder: EncoderConfig = EncoderConfig()
    training: TrainingConfig = TrainingConfig()
    shortcuts: ShortcutsConfig = ShortcutsConfig()
    augment: AugmentConfig = AugmentConfig()
    preset: PresetUse | None = None
    """The preset that some of these settings come from."""


def validate(kind: type[BaseModel], values: Any, where: str) -> Any:
    """Validate values as a config model; raise all of pydantic's errors as one clear ConfigError."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        lines = [f"{where}: {error.error_count()} setting(s) are not valid."]
        for problem in error.errors():
            field = ".".join(_shorten(str(part)) for part in problem["loc"]) or "(top level)"
            if problem["type"] == "extra_forbidden":
                lines.append(
                    f"  {field}: unknown. Known here: {', '.join(_list_fields(kind, problem['loc']))}"
                )
            else:
                what = problem["msg"].removeprefix(
                    "Value error, "
                )  # pydantic's name for what our checks raise
                lines.append(f"  {field}: {what} (got {_shorten(reprlib.repr(problem['input']))})")
        raise ConfigError("\n".join(lines)) from None


def _shorten(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"


def _list_fields(kind: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    for part in location[:-1]:
        annotation = kind.model_fields[str(part)].annotation if str(part) in kind.model_fields else None
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            break
        kind = annotation
    return sorted(kind.model_fields)


def to_yaml(config: BaseModel) -> str:
    """Return the config as YAML, with every default."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
