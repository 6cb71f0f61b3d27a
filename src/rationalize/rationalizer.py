"""The front door in Python: fit, predict, explain, evaluate, save, load."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rationalize.config import EncoderConfig, RunConfig, resolve_options, validate
from rationalize.errors import ConfigError, ModelFormatError
from rationalize.types import Example, Explanation

if TYPE_CHECKING:
    from rationalize.evaluation.evaluation import Evaluation
    from rationalize.evaluation.removal import Removal

Texts = Sequence[str] | Sequence[Example]


class Rationalizer:
    """A text classifier that returns a label together with the words that support it.

    Args:
        method: Id of a method; `rationalize methods` lists them.
        encoder: minilm, tiny, gru, a Hugging Face id or a folder; or all the encoder's settings by name.
        options: The method's own settings.
        training: Settings of the training loop, for instance `{"epochs": 5}`.
        data: Settings about the data, for instance `{"gold_share": 0.1}`.
        seed: Decides every random choice.

    Example:
        >>> model = Rationalizer("semi_rat", encoder="tiny").fit(train, dev)  # doctest: +SKIP
        >>> print(model.explain(["a gripping film from start to end"])[0])  # doctest: +SKIP
    """

    def __init__(
        self,
        method: str = "semi_rat",
        encoder: str | Mapping[str, Any] = "minilm",
        *,
        options: Mapping[str, Any] | None = None,
        training: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        seed: int = 0,
    ) -> None:
        values = {
            "method": method,
            "encoder": {"name": encoder} if isinstance(encoder, str) else dict(encoder),
            "options": dict(options or {}),
            "training": dict(training or {}),
            "data": dict(data or {}),
            "seed": seed,
        }
        self.config: RunConfig = resolve_options(validate(RunConfig, values, "Rationalizer"))
        self._model: Any = None

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> Rationalizer:
        """Load a saved model (or the model of a run folder). A damaged folder is refused."""
        from rationalize.runs.model_folder import load_model

        model = load_model(Path(folder))
        encoder: EncoderConfig = model.config.encoder
        loaded = cls(model.config.method, encoder.model_dump(), options=model.config.options)
        loaded._model = model
        return loaded

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the model folder: weights, tokenizer, config, card, manifest."""
        from rationalize.reporting.card import card_for
        from rationalize.runs.model_folder import save_model

        card = card_for(self.model.config, self.config, faithful=self.model.method.faithful)
        save_model(Path(folder), self.model, card)

    @property
    def model(self) -> Any:
        """The trained model; an error before `fit`."""
        if self._model is None:
            raise ModelFormatError("this Rationalizer is not trained yet: call fit, or use from_pretrained.")
        return self._model

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes."""
        return tuple(self.model.config.labels)

    def fit(
        self,
        train: str | Path | Sequence[Example],
        dev: Sequence[Example] | None = None,
        *,
        folder: str | Path | None = None,
        resume: bool = False,
        quiet: bool = False,
    ) -> Rationalizer:
        """Train.

        Args:
            train: Examples, or the path of a data set that has the splits itself.
            dev: Examples to choose the epoch on; without any, a tenth of `train` is set aside.
            folder: Run folder (checkpoints, logs, model). None: a temporary one.
            resume: Go on with the run in `folder`.
            quiet: Show no progress.
        """
        from rationalize.reporting.progress import TrainingDisplay
        from rationalize.runs.run import train as run
        from rationalize.runs.training_data import make_training_data, read_training_data

        if isinstance(train, str | Path):
            if dev is not None:
                raise ConfigError("fit: with a path, dev is a split of that data set (data.dev), not a list.")
            values = self.config.model_dump() | {
                "data": {**self.config.data.model_dump(), "path": str(train)}
            }
            self.config = validate(RunConfig, values, "Rationalizer")
            data = read_training_data(self.config)
        else:
            data = make_training_data(self.config, train, dev)
        with TrainingDisplay(quiet=quiet) as display:
            if folder is not None:
                self._model = run(self.config, data, Path(folder), display, resume=resume)
            else:
                with tempfile.TemporaryDirectory() as temporary:
                    self._model = run(self.config, data, Path(temporary), display)
        return self

    def explain(
        self, texts: Texts, *, queries: Sequence[str] | None = None, truncate: bool = False
    ) -> list[Explanation]:
        """A label and a rationale for every text. Long texts are read whole; `truncate` reads only the start."""
        return list(self.explain_iter(_as_examples(texts, queries), truncate=truncate))

    def explain_iter(self, examples: Iterable[Example], *, truncate: bool = False) -> Iterator[Explanation]:
        """As `explain`, for any number of examples, a few hundred at a time."""
        for item in self.model.engine().explain(examples, truncate=truncate):
            yield item.explanation

    def predict(self, texts: Texts, *, queries: Sequence[str] | None = None) -> list[str]:
        """The label of every text."""
        return [explanation.label for explanation in self.explain(texts, queries=queries)]

    def evaluate(
        self,
        examples: Iterable[Example],
        *,
        split: str = "given",
        truncate: bool = False,
        faithfulness: Removal | None = None,
    ) -> Evaluation:
        """Every metric on labeled examples, with trivial selectors and the selector's health beside them.

        With `faithfulness` ("drop" or "mask": how words are taken away), comprehensiveness and sufficiency too,
        for about twelve times the work.
        """
        from rationalize.evaluation.evaluate_model import evaluate_model

        return evaluate_model(
            self.model.engine(), examples, split=split, truncate=truncate, faithfulness=faithfulness
        )


def _as_examples(texts: Texts, queries: Sequence[str] | None) -> list[Example]:
    if isinstance(texts, str):
        raise ConfigError("explain and predict take a list of texts; wrap a single one: [text].")
    if queries is not None and len(queries) != len(texts):
        raise ConfigError(f"{len(texts)} texts but {len(queries)} queries: give one query per text.")
    found = []
    for index, text in enumerate(texts):
        if not isinstance(text, str | Example):
            raise ConfigError(f"text {index} is of type {type(text).__name__}, expected str or Example.")
        if isinstance(text, Example) and queries is not None:
            raise ConfigError("queries go with plain texts; an Example has its own query.")
        query = queries[index] if queries is not None else None
        found.append(text if isinstance(text, Example) else Example(str(index), text, query=query))
    return found
