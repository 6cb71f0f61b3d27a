"""The front door in Python: fit, predict, explain, evaluate, save, load."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

from rationalize._estimator import Estimator
from rationalize._texts import Text, answer, to_examples
from rationalize.config import RunConfig, Strict, validate
from rationalize.errors import ConfigError, ModelFormatError
from rationalize.types import Example, Explanation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rationalize.corpus.explain_corpus import CorpusOutcome
    from rationalize.corpus.part_formats import PartFormat
    from rationalize.data.dataset import DataSet
    from rationalize.evaluation.evaluation import Evaluation
    from rationalize.evaluation.removal import Removal
    from rationalize.evaluation.verdict import Verdict
    from rationalize.runs.auto_preset import DataLooks
    from rationalize.runs.model_folder import Model

Settings = Mapping[str, Any]

SECTIONS = {"encoder": "name", "augment": "kind", "options": "", "training": "", "data": "", "shortcuts": ""}
"""Arguments that take settings by name, and the setting that a plain string sets."""


class Rationalizer(Estimator):
    """A text classifier that returns a label together with the words that support it.

    It follows scikit-learn (`fit(X, y)`, `predict`, `predict_proba`, `classes_`, `get_params`) and
    Hugging Face (`from_pretrained`, `save_pretrained`, `push_to_hub`, `to`).

    Threads can share a trained one: `explain`, `predict`, `predict_proba` and `evaluate` change nothing, and their
    answers are those of one thread alone. (`fit` and `to` change the model; nobody may read it meanwhile.)

    Args:
        method: Id of a method; `rationalize.methods()` lists them.
        encoder: minilm, gte_small, tiny, gru, a Hugging Face id or a folder; or encoder settings by name.
        preset: Named defaults for everything not given here. auto: chosen by what the data look like; small (two
            cores), paper (a GPU), planted; None: the plain defaults.
        augment: Also learn from copies whose shortcut words are replaced: random, semantic or mixed; or settings
            by name.
        options: The method's own settings.
        training: Training settings, for instance `{"epochs": 5}`.
        data: Data settings, for instance `{"gold_share": 0.1}`.
        shortcuts: Shortcut discovery settings, for instance `{"min_run": 2}`.
        seed: Decides every random choice.
        device: Where to train and explain: auto, cpu, cuda, cuda:1 or mps.

    Example:
        >>> model = Rationalizer("semi_rat", preset="small").fit(load("movies.tar.gz"))  # doctest: +SKIP
        >>> print(model.explain("a gripping film from start to end"))  # doctest: +SKIP
    """

    def __init__(
        self,
        method: str = "semi_rat",
        encoder: str | Settings | None = None,
        *,
        preset: str | None = "auto",
        augment: str | Settings | None = None,
        options: Settings | None = None,
        training: Settings | None = None,
        data: Settings | None = None,
        shortcuts: Settings | None = None,
        seed: int = 0,
        device: str = "auto",
    ) -> None:
        # Kept as given: scikit-learn clones an estimator from exactly these attributes.
        self.method, self.encoder, self.preset, self.augment = method, encoder, preset, augment
        self.options, self.training, self.data, self.shortcuts = options, training, data, shortcuts
        self.seed, self.device = seed, device
        self._model: Model | None = None
        self._values: Mapping[str, Any] = {}
        self._folder: Path | None = None
        self.config = self._configure()

    def _configure(
        self, path: str | None = None, known: str | None = None, looks: DataLooks | None = None
    ) -> RunConfig:
        """Merge the given settings over the preset, over the defaults."""
        from rationalize.runs.settings import flatten_settings, load_config

        given: dict[str, Any] = {"method": self.method, "seed": self.seed, "device": self.device}
        for section, word in SECTIONS.items():
            value = getattr(self, section)
            if isinstance(value, str):
                given[f"{section}.{word}"] = value
            elif value is not None:
                given |= flatten_settings(value, section)
        given |= {"data.path": path} if path else {}
        if known and self.preset is not None:
            given.setdefault("data.name", known)
        return load_config(None, given, preset=self.preset, looks=looks)

    @classmethod
    def from_settings(cls, settings: Settings, *, preset: str | None = "auto") -> Self:
        """Build an untrained Rationalizer from settings by dotted name, as the command line takes them."""
        from rationalize.runs.settings import apply_settings

        validate(RunConfig, nested := apply_settings({}, settings), "settings")
        return cls(**nested, preset=preset)

    @classmethod
    def from_config(cls, config: RunConfig) -> Self:
        """Build an untrained Rationalizer from the settings of a run."""
        found = cls.__new__(cls)  # the settings are resolved already, and that is done once
        for name in found.get_params():
            value = getattr(config, name)
            setattr(found, name, value.model_dump(mode="json") if isinstance(value, Strict) else value)
        found.preset, found.config = None, config
        found._model, found._values, found._folder = None, {}, None
        return found

    @classmethod
    def from_pretrained(
        cls,
        model: str | Path,
        *,
        device: str = "auto",
        revision: str | None = None,
        token: str | None = None,
    ) -> Self:
        """Load a saved model. A damaged folder is refused.

        Args:
            model: A model folder, a run folder, or a Hub id (owner/name), which is fetched.
            device: Where to run it.
            revision: Branch, tag or commit on the Hub.
            token: Access token for a private Hub model; None: the one that huggingface_hub finds.
        """
        from rationalize._hub import find_folder
        from rationalize.runs.model_folder import load_model

        folder = find_folder(model, revision=revision, token=token)
        loaded = load_model(folder, device)
        found = cls.from_config(loaded.config.to_run_config(device))
        found._model, found._folder = loaded, folder
        return found

    @classmethod
    def resume(
        cls,
        folder: str | Path,
        data: Any = None,
        *,
        settings: Settings | None = None,
        quiet: bool = False,
    ) -> Self:
        """Continue an interrupted run, or add epochs to a finished one.

        Args:
            folder: The run folder.
            data: The training data, if the run got it in Python; the run remembers a path by itself.
            settings: Settings to change, by dotted name: `{"training.epochs": 12}`, `{"device": "cpu"}`.
            quiet: Show no progress.
        """
        from rationalize.runs.run_folder import read_config

        config = read_config(Path(folder), settings or {}, has_data=data is not None)
        found = cls.from_config(config)
        return found.fit(config.data.path if data is None else data, folder=folder, resume=True, quiet=quiet)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the model folder: weights, tokenizer, config with provenance, card, manifest."""
        from rationalize.reporting.card import render_card
        from rationalize.runs.model_folder import save_model

        save_model(Path(folder), self.model, render_card(self.model.config))

    def push_to_hub(
        self,
        repo_id: str,
        *,
        private: bool = False,
        token: str | None = None,
        message: str = "Add a rationalize model",
    ) -> str:
        """Upload the model folder to the Hub and return the address of the commit."""
        from rationalize._hub import push_folder

        _ = self.model  # refuse an untrained one before creating anything
        return push_folder(self.save_pretrained, repo_id, private=private, token=token, message=message)

    @property
    def model(self) -> Model:
        """The trained model; raises ModelFormatError before `fit`."""
        if self._model is None:
            raise ModelFormatError("this Rationalizer is not trained yet: call fit, or use from_pretrained.")
        return self._model

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the classes."""
        return tuple(self.model.config.labels)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes in the order of `predict_proba`, as the values given to `fit`."""
        import numpy as np

        return np.array([self._values.get(label, label) for label in self.labels])

    @property
    def verdict_(self) -> Verdict:
        """What the dev scores say about the model, in words: `print(model.verdict_)`.

        Raises:
            ModelFormatError: Before `fit`, or if the model does not know its dev scores.
        """
        from rationalize.evaluation.evaluation import Evaluation
        from rationalize.evaluation.verdict import judge

        origin = self.model.config.provenance
        if origin is None:
            raise ModelFormatError("this model does not know its dev scores: no run trained it.")
        return judge(Evaluation.from_dict(origin.dev))

    def to(self, device: str) -> Self:
        """Move the model to a device; refuse one that this machine lacks."""
        from rationalize.devices import resolve_device

        resolve_device(device)
        if self._model is not None:
            self._model.to(device)
        self.device, self.config = device, self.config.model_copy(update={"device": device})
        return self

    def fit(
        self,
        data: Any,
        y: Iterable[Any] | None = None,
        *,
        dev: Any = None,
        folder: str | Path | None = None,
        resume: bool = False,
        quiet: bool = False,
    ) -> Self:
        """Train the model.

        Args:
            data: Anything `rationalize.load` takes: a data set, a path, a DataFrame, examples; or texts, with `y`.
            y: The labels of the texts.
            dev: Examples to choose the best epoch on, given like `data`. None: the data set's dev split, or a
                held-out part of the training examples.
            folder: Run folder (checkpoints, logs, model). None: a temporary one.
            resume: Continue the run in `folder`.
            quiet: Show no progress.
        """
        from rationalize.reporting.card import render_card
        from rationalize.reporting.progress import TrainingDisplay
        from rationalize.runs.presets import describe_use
        from rationalize.runs.run import train
        from rationalize.runs.training_data import split_training_data

        given = self._read(data, y, dev)
        if self.preset is not None or given.path is not None:
            self.config = self._follow(given)
        learned_from = split_training_data(self.config, given)
        with TrainingDisplay(quiet=quiet) as display, tempfile.TemporaryDirectory() as temporary:
            if self.config.preset is not None:
                display.message(describe_use(self.config.preset, self.config.method))
            place = Path(folder or Path(temporary) / "run")
            self._folder = None if folder is None else place
            self._model = train(
                self.config, learned_from, place, display, resume=resume, bag=True, card=render_card
            )
        return self

    def discover_shortcuts(self, data: Any, folder: str | Path, *, quiet: bool = False) -> Path:
        """Train Un-RAT and list what it selects in annotated texts that people did not mark.

        Returns:
            The file with the statistics; a JSON Lines file beside it has the annotated examples with their shortcuts.
        """
        from rationalize.reporting.progress import TrainingDisplay
        from rationalize.runs.run import find_shortcuts
        from rationalize.runs.training_data import split_training_data

        given = self._read(data, None, None)
        self.config = self._follow(given)
        learned_from = split_training_data(self.config, given)
        with TrainingDisplay(quiet=quiet) as display:
            return find_shortcuts(self.config, learned_from, Path(folder), display)

    def _follow(self, given: DataSet) -> RunConfig:
        """Return the settings for a run on this data set."""
        if self.preset is None:
            section = self.config.data.model_copy(update={"path": given.path})
            return self.config.model_copy(update={"data": section})
        from rationalize.runs.auto_preset import look_at

        return self._configure(
            given.path, given.known, look_at(given.only(self.config.data.train), given.words)
        )

    def _read(self, data: Any, y: Iterable[Any] | None, dev: Any) -> DataSet:
        """Read the training data. Data without split names are all used for training."""
        from rationalize.data.dataset import DataSet
        from rationalize.data.read_options import ReadOptions
        from rationalize.data.source import read_data
        from rationalize.devices import resolve_device

        if data is None:
            raise ConfigError("data: nothing to train on. Give a data set.", field="data.path")
        resolve_device(self.config.device)  # before anything is read
        options = ReadOptions.from_config(self.config.data)
        labels = None if y is None else list(y)
        if labels is not None:
            data = {"train": (list(data), labels)}
        elif not isinstance(data, str | Path | Mapping | DataSet):
            data = {"train": data}
        found = read_data(data, options)
        if labels is not None:
            named = (example.label for example in found["train"])
            self._values = {str(label): value for label, value in zip(named, labels, strict=True)}
        if dev is None:
            return found
        apart = read_data(dev if isinstance(dev, str | Path | Mapping | DataSet) else {"dev": dev}, options)
        chosen = apart.only("dev")
        return replace(found, splits={"train": found.only(self.config.data.train), "dev": chosen})

    @overload
    def explain(  # type: ignore[overload-overlap]  # a text is a sequence, too
        self, texts: Text, *, queries: str | None = ..., truncate: bool = ..., batch_tokens: int | None = ...
    ) -> Explanation: ...
    @overload
    def explain(
        self,
        texts: Sequence[Text],
        *,
        queries: Iterable[str] | None = ...,
        truncate: bool = ...,
        batch_tokens: int | None = ...,
    ) -> list[Explanation]: ...
    @overload
    def explain(
        self,
        texts: Iterator[Text],
        *,
        queries: Iterable[str] | None = ...,
        truncate: bool = ...,
        batch_tokens: int | None = ...,
    ) -> Iterator[Explanation]: ...
    def explain(
        self, texts: Any, *, queries: Any = None, truncate: bool = False, batch_tokens: int | None = None
    ) -> Any:
        """Return a label and a rationale for one text, a list for several, or an iterator for a stream.

        Args:
            texts: A text or an `Example`, or any number of them.
            queries: The question or claim about the text; one per text.
            truncate: Read only what fits the encoder; otherwise long texts are read whole, in windows.
            batch_tokens: Word pieces that are read at once; None: 2,048 on a CPU, 16,384 elsewhere.
        """
        engine = self.model.engine(batch_tokens=batch_tokens)

        def explain_all(examples: Iterable[Example]) -> Iterator[Explanation]:
            return (item.explanation for item in engine.explain(examples, truncate=truncate))

        return answer(texts, queries, explain_all)

    def explain_to(
        self,
        out: str | Path,
        texts: Iterable[Text],
        *,
        format: PartFormat | None = None,
        workers: int = 1,
        resume: bool = False,
        truncate: bool = False,
        batch_tokens: int | None = None,
        quiet: bool = False,
    ) -> CorpusOutcome:
        """Explain any number of texts into a file, or a folder of numbered parts, with little of them in memory.

        Args:
            out: A file ending in .jsonl, .csv or .parquet; a name without an ending is that of a folder. It appears
                when it is complete.
            texts: Texts or Examples, for instance those of `rationalize.data.stream_examples`.
            format: Format of the parts of a folder: jsonl (None), csv or parquet.
            workers: Processes that explain; they share one copy of the weights. A script that uses several needs
                `if __name__ == "__main__":` around what it does.
            resume: Go on where an earlier attempt with the same texts stopped.
            truncate: Read only what fits the encoder.
            batch_tokens: Word pieces that are read at once; None: 2,048 on a CPU, 16,384 elsewhere.
            quiet: Show no progress.
        """
        from rationalize.corpus.explain_corpus import CorpusSettings, explain_all
        from rationalize.reporting.progress import show_progress

        settings = CorpusSettings(format, workers, resume, truncate, batch_tokens)
        with show_progress("explaining", quiet=quiet) as update:
            examples = to_examples(texts, None)
            return explain_all(self.model, examples, Path(out), settings, lambda rows: update(rows, 0))

    def predict(
        self, texts: Any, *, queries: Any = None, truncate: bool = False, batch_tokens: int | None = None
    ) -> Any:
        """Predict the label of one text or of several; this skips the rationale where the method can.

        Labels are the values given to `fit`: numbers stay numbers.
        """

        engine = self.model.engine(batch_tokens=batch_tokens)

        def predict_all(examples: Iterable[Example]) -> Iterator[Any]:
            for row in engine.predict(examples, truncate=truncate):
                label = max(row, key=row.__getitem__)
                yield self._values.get(label, label)

        return answer(texts, queries, predict_all)

    def predict_proba(
        self, texts: Any, *, queries: Any = None, truncate: bool = False, batch_tokens: int | None = None
    ) -> NDArray[np.float64]:
        """Return the probability of each class (see `classes_`): one row per text, or one row for a single text."""
        import numpy as np

        engine = self.model.engine(batch_tokens=batch_tokens)

        def predict_all(examples: Iterable[Example]) -> Iterator[list[float]]:
            return (list(row.values()) for row in engine.predict(examples, truncate=truncate))

        found = answer(texts, queries, predict_all)
        rows = np.array(found if isinstance(found, list) else list(found), dtype=float)
        return rows if isinstance(texts, str | Example) else rows.reshape(-1, len(self.labels))

    def evaluate(
        self,
        data: Any,
        split: str = "test",
        *,
        limit: int | None = None,
        truncate: bool = False,
        faithfulness: Removal | None = None,
        label_map: Mapping[str, str] | None = None,
        oracle_label: bool = False,
        quiet: bool = True,
    ) -> Evaluation:
        """Compute every metric on labeled examples, next to trivial selectors and the selector's health.

        A model that is still in its run folder is compared with the run's bag of words, too.

        Args:
            data: Examples, or anything else `rationalize.load` takes.
            split: The split to read, or a name for the examples.
            limit: Score a stratified sample of this size.
            truncate: Read only what fits the encoder, as the papers do.
            faithfulness: Also measure comprehensiveness and sufficiency, by deleting ("drop") or masking ("mask")
                words; about twelve times the work.
            label_map: The data's name for a class → this model's name, where they differ.
            oracle_label: Give the selector the gold label (some methods): published practice, but not fair.
            quiet: Show no progress.
        """
        from rationalize.data.source import read_examples
        from rationalize.data.splits import limit as sample
        from rationalize.evaluation.bag_of_words import read_bag
        from rationalize.evaluation.recipe import evaluate_model
        from rationalize.evaluation.transfer import map_labels
        from rationalize.reporting.progress import show_progress

        examples = map_labels(read_examples(data, split), self.labels, label_map or {}, split)
        examples = sample(examples, limit) if limit else examples
        engine = self.model.engine(oracle_label=oracle_label)
        with show_progress(f"scoring {split}", quiet=quiet) as on_progress:
            return evaluate_model(
                engine,
                examples,
                split=split,
                truncate=truncate,
                faithfulness=faithfulness,
                bag=read_bag(self._folder) if self._folder else None,
                on_progress=on_progress,
            )

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    def __repr__(self) -> str:
        chosen = {name: value for name, value in self.get_params().items() if value is not None}
        shown = [f"{chosen.pop('method')!r}", f"encoder={self.config.encoder.name!r}"]
        shown += [f"{name}={chosen[name]!r}" for name in ("preset", "seed") if name in chosen]
        if self._model is None:
            return f"Rationalizer({', '.join(shown)}): not trained"
        words = "the selected words alone" if self._model.method.faithful else "the full text"
        return f"Rationalizer({', '.join(shown)}): labels {', '.join(self.labels)}, from {words}"
