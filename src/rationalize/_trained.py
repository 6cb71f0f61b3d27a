"""Ask a trained model: labels, rationales, scores, and a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from rationalize._estimator import Estimator
from rationalize._texts import Text, answer, to_examples
from rationalize.errors import ModelFormatError
from rationalize.types import Example, Explanation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rationalize.config import Precision
    from rationalize.corpus.corpus_settings import CorpusOutcome
    from rationalize.corpus.part_formats import PartFormat
    from rationalize.evaluation.evaluation import Evaluation
    from rationalize.evaluation.removal import Removal
    from rationalize.evaluation.verdict import Verdict
    from rationalize.format_names import ToolName
    from rationalize.inference.confidence import MinConfidence
    from rationalize.runs.model_folder import Model

    class _Reading(TypedDict, total=False):
        """How texts are read and labels withheld; see `Trained.explain`."""

        truncate: bool
        batch_tokens: int | None
        min_confidence: MinConfidence | None
        precision: Precision


class Trained(Estimator):
    """What a trained Rationalizer can be asked. Asking changes nothing, so threads may share one."""

    _model: Model | None
    _values: Mapping[str, Any]
    _folder: Path | None

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

    @overload
    def explain(  # type: ignore[overload-overlap]  # a text is a sequence, too
        self,
        texts: Text,
        *,
        queries: str | None = ...,
        **options: Unpack[_Reading],
    ) -> Explanation: ...
    @overload
    def explain(
        self,
        texts: Sequence[Text],
        *,
        queries: Iterable[str] | None = ...,
        **options: Unpack[_Reading],
    ) -> list[Explanation]: ...
    @overload
    def explain(
        self,
        texts: Iterator[Text],
        *,
        queries: Iterable[str] | None = ...,
        **options: Unpack[_Reading],
    ) -> Iterator[Explanation]: ...
    def explain(
        self,
        texts: Any,
        *,
        queries: Any = None,
        truncate: bool = False,
        batch_tokens: int | None = None,
        min_confidence: MinConfidence | None = None,
        precision: Precision = "fp32",
    ) -> Any:
        """Return a label and a rationale for one text, a list for several, or an iterator for a stream.

        Args:
            texts: A text or an `Example`, or any number of them.
            queries: The question or claim about the text; one per text.
            truncate: Read only what fits the encoder; otherwise long texts are read whole, in windows.
            batch_tokens: Word pieces that are read at once; None: 2,048 on a CPU, 16,384 elsewhere.
            min_confidence: The confidence that a label needs, or each of some labels (`{"POS": 0.8}`); below it, the
                label is `abstain`.
            precision: Of matrix products inside encoders; `bf16` is faster where the processor has instructions for it,
                and on GPUs, and may change what is nearly undecided.
        """
        engine = self.model.engine(
            batch_tokens=batch_tokens, min_confidence=min_confidence, precision=precision
        )

        def explain_all(examples: Iterable[Example]) -> Iterator[Explanation]:
            return (item.explanation for item in engine.explain(examples, truncate=truncate))

        return answer(texts, queries, explain_all)

    def explain_to(
        self,
        out: str | Path,
        texts: Iterable[Text],
        *,
        format: PartFormat | None = None,
        to: ToolName | None = None,
        workers: int = 1,
        on: str | None = None,
        device: str = "cpu",
        resume: bool = False,
        truncate: bool = False,
        batch_tokens: int | None = None,
        guard_formulas: bool = True,
        min_confidence: MinConfidence | None = None,
        precision: Precision = "fp32",
        total: int = 0,
        on_read: Callable[[int], None] = lambda rows: None,
        quiet: bool = False,
    ) -> CorpusOutcome:
        """Explain any number of texts into a file, or a folder of numbered parts, with little of them in memory.

        Args:
            out: A file ending in .jsonl, .csv or .parquet; a name without an ending is that of a folder. It appears
                when it is complete. The address of a folder in a store (`s3://…`, `gs://…`, `hf://…`): its parts do.
            texts: Texts or Examples, for instance those of `rationalize.data.stream_examples`.
            format: Format of the parts of a folder: jsonl (None), csv or parquet.
            to: An annotation tool: `out` is then what it imports, with the explanations as pre-annotations.
            workers: Processes that explain; they share one copy of the weights. A script that uses several needs
                `if __name__ == "__main__":` around what it does.
            on: A Ray cluster instead: `ray`, or `ray://HOST:PORT`. Each worker is an actor with a copy of the model.
            device: What these actors compute on: cpu, or cuda, then each asks for a GPU.
            resume: Go on where an earlier attempt with the same texts stopped.
            truncate: Read only what fits the encoder.
            batch_tokens: Word pieces that are read at once; None: 2,048 on a CPU, 16,384 elsewhere.
            guard_formulas: In CSV, put an apostrophe before cells that a spreadsheet would run.
            min_confidence: The confidence that a label needs, as for `explain`.
            precision: Of matrix products inside encoders, as for `explain`.
            total: About how many texts there are, to show how long it takes; 0: unknown.
            on_read: Called with the number of all texts before the output appears; it may refuse.
            quiet: Show no progress.
        """
        from rationalize.corpus.corpus_settings import CorpusSettings
        from rationalize.corpus.explain_corpus import explain_all
        from rationalize.reporting.progress import show_progress

        settings = CorpusSettings(
            format,
            workers,
            resume,
            truncate,
            batch_tokens,
            guard_formulas=guard_formulas,
            min_confidence=min_confidence,
            precision=precision,
            on=on,
            device=device,
            to=to,
        )
        with show_progress("explaining", quiet=quiet, unit="texts") as update:
            examples = to_examples(texts, None)
            return explain_all(
                self.model,
                examples,
                out,
                settings,
                lambda rows: update(rows, max(rows, total) if total else 0),
                on_read,
            )

    def predict(
        self,
        texts: Any,
        *,
        queries: Any = None,
        truncate: bool = False,
        batch_tokens: int | None = None,
        min_confidence: MinConfidence | None = None,
        precision: Precision = "fp32",
    ) -> Any:
        """Predict the label of one text or of several; this skips the rationale where the method can.

        Labels are the values given to `fit`: numbers stay numbers. With `min_confidence`, labels that are less sure are
        `"abstain"`.
        """

        engine = self.model.engine(
            batch_tokens=batch_tokens, min_confidence=min_confidence, precision=precision
        )

        def predict_all(examples: Iterable[Example]) -> Iterator[Any]:
            for row in engine.predict(examples, truncate=truncate):
                label, _ = engine.rule.judge(row)
                yield self._values.get(label, label)

        return answer(texts, queries, predict_all)

    def predict_proba(
        self,
        texts: Any,
        *,
        queries: Any = None,
        truncate: bool = False,
        batch_tokens: int | None = None,
        precision: Precision = "fp32",
    ) -> NDArray[np.float64]:
        """Return the probability of each class (see `classes_`): one row per text, or one row for a single text."""
        import numpy as np

        engine = self.model.engine(batch_tokens=batch_tokens, precision=precision)

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
        precision: Precision = "fp32",
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
            precision: Of matrix products inside encoders, as for `explain`.
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
        engine = self.model.engine(oracle_label=oracle_label, precision=precision)
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
