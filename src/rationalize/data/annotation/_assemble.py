"""From texts with people's answers to examples: offsets settled, people merged, agreement measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from rationalize.data.annotation._settle import Named, OffsetJudge, SettledAnswer
from rationalize.data.annotation._tasks import UNNAMED, AnnotatedText
from rationalize.data.annotation.annotation_file import AnnotationFile
from rationalize.data.annotation.import_options import MERGES, Counting, ImportOptions
from rationalize.data.annotation.merge_people import join_spans, merge_labels, merge_spans
from rationalize.data.annotator_agreement import AgreementMeter
from rationalize.data.findings import LISTED, Findings, shorten
from rationalize.errors import ConfigError, DataError
from rationalize.types import Example, Span

TextReader = Callable[[Path, ImportOptions, Findings], Iterable[AnnotatedText]]
Settled = tuple[AnnotatedText, list[SettledAnswer]]


def assemble(
    format: str,
    path: Path,
    read_texts: TextReader,
    options: ImportOptions,
    findings: Findings | None,
    habit: Counting = "code_points",
) -> AnnotationFile:
    """Read a file with a tool's reader.

    Args:
        format: Name of the format.
        path: The file or folder.
        read_texts: The tool's reader.
        options: How to read.
        findings: Where problems go. None: all are gathered, and errors raised together if the reading is strict.
        habit: What the tool's offsets usually count, for marks that the file itself leaves undecided.
    """
    own = Findings(path, strict=False) if findings is None else findings
    texts = list(read_texts(path, options, own))
    judge = OffsetJudge(options, habit, own)
    settled = judge.settle_all(text for text in texts if text.fine)
    joined = [(text, _join_by_person(text, answers)) for text, answers in settled]
    good = list(_drop_repeats(each for each in joined if each[0].fine))
    people, names = _count_people(good), _count_names(good)
    _check_options(options, people, names, path, own)
    examples = _Examples(options, names, own)
    made = tuple(examples.make(*each) for each in good)
    if findings is None and options.strict:
        raise_errors(own, path)
    own.note("spans counted in UTF-16 units, now in code points", judge.converted)
    return AnnotationFile(
        format=format,
        examples=made,
        read=len(texts),
        annotators=dict(people),
        span_names=dict(names),
        converted=judge.converted,
        people=_compare_people(good, options),
        problems=own.list_problems(),
        notes=dict(sorted(own.notes.items())),
    )


def raise_errors(findings: Findings, path: Path) -> None:
    """Raise one DataError for all gathered errors, if there are any."""
    total = findings.total("error")
    if not total:
        return
    lines = [str(problem) for problem in findings.list_problems() if problem.severity == "error"]
    if total > len(lines):
        lines.append(f"… and {total - len(lines)} more; {LISTED} are listed.")
    advice = "Mend them in the tool and export again, or set `strict` to false to leave those texts out."
    raise DataError("\n".join([f"{path}: {total} problem{'s' * (total > 1)}.", *lines, advice]))


class _Examples:
    """Makes examples. What nobody marked in the entire file is unknown, not empty."""

    def __init__(self, options: ImportOptions, names: Counter[str], findings: Findings) -> None:
        self._options = options
        self._findings = findings
        self._has_rationale = any(map(options.is_rationale, names))
        self._has_shortcuts = any(map(options.is_shortcut, names))
        if not self._has_rationale:
            findings.note("no rationale is marked in the whole file")

    def make(self, text: AnnotatedText, answers: list[SettledAnswer]) -> Example:
        """Make an example of one annotated text."""
        rule = self._options.annotators
        heard = answers if rule in MERGES else [each for each in answers if each.annotator == rule]
        label, tie = merge_labels([each.label for each in heard if each.label is not None])
        if tie:
            seen = ", ".join(shorten(each.label) for each in heard if each.label is not None)
            text.row.warning(
                "tie between labels", "label", seen=seen, expected="a majority; it gets no label"
            )
        marked = [each.spans for each in heard if each.spans is not None]
        if not marked:
            self._findings.note("texts that nobody marked")
        return Example(
            id=text.id,
            text=text.text,
            label=text.label if label is None and not tie else label,
            query=text.query,
            rationale=self._merge(marked, self._options.is_rationale) if self._has_rationale else None,
            shortcuts=self._merge(marked, self._options.is_shortcut) if self._has_shortcuts else None,
        )

    def _merge(
        self, marked: Sequence[Sequence[Named]], wanted: Callable[[str], bool]
    ) -> tuple[Span, ...] | None:
        if not marked:
            return None
        rule = self._options.annotators if self._options.annotators in MERGES else "union"
        return merge_spans([pick(spans, wanted) for spans in marked], rule)


def pick(spans: Iterable[Named], wanted: Callable[[str], bool]) -> list[Span]:
    """Return the spans whose name is wanted; one that has several names is taken once."""
    return list(dict.fromkeys(span for name, span in spans if wanted(name)))


def _join_by_person(text: AnnotatedText, answers: list[SettledAnswer]) -> list[SettledAnswer]:
    """Return one answer for each person, joined from all of that person's rows."""
    people: dict[str, list[SettledAnswer]] = {}
    for answer in answers:
        people.setdefault(answer.annotator, []).append(answer)
    return [_join(text, person, given) for person, given in people.items()]


def _join(text: AnnotatedText, person: str, given: list[SettledAnswer]) -> SettledAnswer:
    labels = list(dict.fromkeys(answer.label for answer in given if answer.label is not None))
    if len(labels) > 1:
        seen = f"{' and '.join(map(shorten, labels))} by {person}"
        text.row.error("several labels", "label", seen=seen, expected="one class for each text")
    parts = [answer.spans for answer in given if answer.spans is not None]
    spans = tuple(span for part in parts for span in part) if parts else None
    return SettledAnswer(person, labels[0] if labels else None, spans)


def _drop_repeats(settled: Iterable[Settled]) -> Iterator[Settled]:
    first: dict[str, AnnotatedText] = {}
    for text, answers in settled:
        earlier = first.setdefault(text.id, text)
        if earlier is text:
            yield text, answers
        else:
            expected = f"an id that is not the one of {earlier.row.place}"
            text.row.error("duplicate id", "id", seen=shorten(text.id), expected=expected)


def _count_people(settled: Iterable[Settled]) -> Counter[str]:
    return Counter(name for _, answers in settled for name in {answer.annotator for answer in answers})


def _count_names(settled: Iterable[Settled]) -> Counter[str]:
    return Counter(name for _, answers in settled for each in answers for name, _ in each.spans or ())


def _check_options(
    options: ImportOptions, people: Counter[str], names: Counter[str], path: Path, findings: Findings
) -> None:
    if options.annotators not in (*MERGES, *people) and people:
        known = ", ".join(map(repr, (*MERGES, *sorted(set(people) - {UNNAMED}))))
        raise ConfigError(
            f"annotators: saw {options.annotators!r}, expected one of {known} ({path}).", field="annotators"
        )
    for name in options.span_labels or ():
        if name not in names:
            expected = f"one of {', '.join(map(repr, sorted(names))) or 'no names at all'}"
            findings.warning(
                "no span has this name", str(path), field="span_labels", seen=repr(name), expected=expected
            )


def _compare_people(settled: Sequence[Settled], options: ImportOptions) -> AgreementMeter:
    meter = AgreementMeter()
    for text, answers in settled:
        marked = [each for each in answers if each.spans is not None]
        spans = [join_spans(pick(each.spans or (), options.is_rationale)) for each in marked]
        meter.add_spans(text.text, spans, [each.annotator for each in marked])
        labels = [(each.label, each.annotator) for each in answers if each.label is not None]
        meter.add_labels([label for label, _ in labels], [name for _, name in labels])
    return meter
