"""The front door in Python: fit, predict, explain, evaluate, save, load."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rationalize._saving import Saved
from rationalize.config import RunConfig, Strict, validate
from rationalize.errors import ConfigError
from rationalize.printable import to_one_line
from rationalize.processes import is_helper

if TYPE_CHECKING:
    from rationalize.data.dataset import DataSet
    from rationalize.runs.auto_preset import DataLooks
    from rationalize.runs.model_folder import Model

Settings = Mapping[str, Any]

SECTIONS = {"encoder": "name", "augment": "kind", "options": "", "training": "", "data": "", "shortcuts": ""}
"""Arguments that take settings by name, and the setting that a plain string sets."""


class Rationalizer(Saved):
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
        augment: Also learn from copies whose shortcut words are replaced (random, semantic or mixed), or their
            evidence and label (counterfactual); or settings by name.
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
        trust: str | Path | bytes | None = None,
    ) -> Self:
        """Load a saved model. A damaged folder is refused.

        Args:
            model: A model folder, a run folder, or a Hub id (owner/name), which is fetched.
            device: Where to run it.
            revision: Branch, tag or commit on the Hub.
            token: Access token for a private Hub model; None: the one that huggingface_hub finds.
            trust: A public key (PEM, or its file); the model must be signed with the private key that belongs to it.
        """
        from rationalize._hub import find_folder
        from rationalize.runs.model_folder import load_model

        folder = find_folder(model, revision=revision, token=token)
        loaded = load_model(folder, device, trust=trust)
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

        if is_helper():
            return cls().fit(None)
        config = read_config(Path(folder), settings or {}, has_data=data is not None)
        found = cls.from_config(config)
        return found.fit(config.data.path if data is None else data, folder=folder, resume=True, quiet=quiet)

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

        Where a launcher (torchrun, accelerate) started several processes, they train one model together, and each has
        it in the end. Process 0 alone reads `data` and writes to `folder`.
        """
        from rationalize.training.crew import lead_crew

        if is_helper():
            return self._help()
        with lead_crew() as crew:
            crew.check_device(self.config.device)
            self._fit(data, y, dev, folder, resume=resume, quiet=quiet)
            crew.share_result(self.model.method, (self.config, self._values, self._folder, self._model))
        return self

    def _help(self) -> Self:
        """Help process 0 to train, and take its model over."""
        from rationalize.devices import resolve_device
        from rationalize.training.helping import help_training

        self.config, self._values, self._folder, self._model = help_training().take_result()
        self.model.to(str(resolve_device(self.config.device)))
        return self

    def _fit(
        self,
        data: Any,
        y: Iterable[Any] | None,
        dev: Any,
        folder: str | Path | None,
        *,
        resume: bool,
        quiet: bool,
    ) -> None:
        from rationalize.locks import check_free
        from rationalize.reporting.card import render_card
        from rationalize.reporting.progress import TrainingDisplay
        from rationalize.runs.presets import describe_use
        from rationalize.runs.run import train
        from rationalize.runs.training_data import split_training_data

        if folder is not None:
            check_free(Path(folder))  # before the data are read
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

    def distill(
        self,
        data: Any,
        layers: int,
        *,
        dev: Any = None,
        folder: str | Path | None = None,
        settings: Settings | None = None,
        quiet: bool = False,
    ) -> Self:
        """Return a faster copy whose selector has fewer layers, and has learned to select as this model does.

        Everything else is this model's own. It needs texts like those that this model was trained on; gold rationales
        are only used to score it. The copy has no label from the full text.

        Args:
            data: Anything that `fit` takes.
            layers: By how many layers the copy selects.
            dev: Examples to choose the best epoch on, as for `fit`.
            folder: Run folder of the copy. None: a temporary one.
            settings: Settings to change, by dotted name: `{"training.epochs": 5}`.
            quiet: Show no progress.
        """
        from rationalize.runs.pupil import make_pupil_config

        model = self.model
        if self._folder is None:
            raise ConfigError(
                "distill: the copy learns from a model folder, and this model is in none. Save it by save_pretrained, "
                "and load it from there."
            )
        given = {"device": self.device, **(settings or {})}
        config = make_pupil_config(model, self._folder, layers, given)
        return type(self).from_config(config).fit(data, dev=dev, folder=folder, quiet=quiet)

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
        from rationalize.runs.auto_preset import AUTO, look_at

        wanted = self.preset == AUTO  # the others do not depend on what the data look like
        looks = look_at(given.only(self.config.data.train), given.words) if wanted else None
        return self._configure(given.path, given.known, looks)

    def _read(self, data: Any, y: Iterable[Any] | None, dev: Any) -> DataSet:
        """Read the training data; remember the values that the labels were given as."""
        from rationalize._training_input import read_training_input
        from rationalize.devices import resolve_device
        from rationalize.runs.trackers import require_tracker

        if data is None:
            raise ConfigError("data: nothing to train on. Give a data set.", field="data.path")
        resolve_device(self.config.device)  # before anything is read
        require_tracker(self.config.training.report_to)
        found, values = read_training_input(self.config, data, y, dev)
        if y is not None:
            self._values = values
        return found

    def __repr__(self) -> str:
        chosen = {name: value for name, value in self.get_params().items() if value is not None}
        shown = [f"{chosen.pop('method')!r}", f"encoder={self.config.encoder.name!r}"]
        shown += [f"{name}={chosen[name]!r}" for name in ("preset", "seed") if name in chosen]
        if self._model is None:
            return f"Rationalizer({', '.join(shown)}): not trained"
        words = "the selected words alone" if self._model.method.faithful else "the full text"
        return to_one_line(f"Rationalizer({', '.join(shown)}): labels {', '.join(self.labels)}, from {words}")
