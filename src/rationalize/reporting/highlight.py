"""Show an explanation: the label, its probability, its faithfulness, and the text with its rationale marked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from rationalize.printable import to_one_line
from rationalize.reporting.layers import Layer, Segment, collect_layers, cut_segments
from rationalize.reporting.marks import make_legend, to_html, to_plain, to_terminal
from rationalize.reporting.templating import render
from rationalize.reporting.wording import format_method, format_percent
from rationalize.types import Explanation, Span

SHOWN_CLASSES = 5


@dataclass(frozen=True, slots=True)
class ExplanationView:
    """An explanation as every front end shows it; rich can print it."""

    explanation: Explanation
    segments: tuple[Segment, ...]
    layers: frozenset[Layer]

    @property
    def method(self) -> str:
        """The method's name."""
        return format_method(self.explanation.method, oracle_label=self.explanation.oracle_label)

    @property
    def sureness(self) -> str:
        """Probability of the predicted class."""
        return format_percent(self.explanation.probability)

    @property
    def others(self) -> list[tuple[str, float]]:
        """The next most probable classes."""
        rest = [item for item in self.explanation.probabilities.items() if item[0] != self.explanation.label]
        return sorted(rest, key=lambda item: -item[1])[: SHOWN_CLASSES - 1]

    @property
    def readings(self) -> list[tuple[str, str, str]]:
        """The predictions for the full text and for the rationale alone: (text, label, probability)."""
        named = [
            ("full text", self.explanation.from_full_text),
            ("rationale alone", self.explanation.from_rationale),
        ]
        found = []
        for name, probabilities in named:
            if probabilities:
                label = max(probabilities, key=probabilities.__getitem__)
                found.append((name, label, format_percent(probabilities[label])))
        return found

    @property
    def caution(self) -> str:
        """How sure the label is by what dev has shown, and whether a person should look."""
        sure, look = self.explanation.confidence, self.explanation.review
        words = [] if sure is None else [f"confidence {format_percent(sure)}"]
        words += ["review: full text and rationale give different labels"] if look else []
        return "; ".join(words)

    @property
    def dependence(self) -> str:
        """A phrase: whether the label depends on the selected words alone."""
        if self.explanation.faithful:
            return "faithful: the label depends on selected words only"
        return "not faithful: the label depends on other words too"

    @property
    def amount(self) -> str:
        """How many words were selected."""
        selected, total = sum(self.explanation.selected), len(self.explanation.selected)
        share = format_percent(selected / total) if total else format_percent(None)
        return f"{selected} of {total} words selected ({share})"

    def facts(self) -> list[str]:
        """Return the lines above the text."""
        head = f"{self.explanation.label} {self.sureness}"
        others = ", ".join(f"{label} {format_percent(probability)}" for label, probability in self.others)
        readings = "; ".join(f"{name}: {label} {sure}" for name, label, sure in self.readings)
        lines = [f"{head} ({others})" if others else head, readings, self.caution, self.amount]
        lines += [f"{self.method}, {self.dependence}"]
        lines += [f"query: {self.explanation.query}"] if self.explanation.query else []
        return [to_one_line(line) for line in lines if line]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # Without colors rich drops bold and underline too, so the marks must be characters.
        styled = console.color_system is not None
        show = to_terminal if styled else _to_plain_text
        first, *rest = self.facts()
        yield Text(first, style="bold")
        yield from (Text(line, style="dim") for line in rest)
        yield Text("")
        yield show(self.segments)
        yield Text("")
        yield Text("  ").join(show(sample) for sample in make_legend(self.layers))


def _to_plain_text(segments: Iterable[Segment]) -> Text:
    return Text(to_plain(segments))


def view_explanation(
    explanation: Explanation, *, gold: Iterable[Span] | None = None, shortcuts: Iterable[Span] | None = None
) -> ExplanationView:
    """Put the layers to show on an explanation's text."""
    layers = collect_layers(explanation, gold=gold, shortcuts=shortcuts)
    return ExplanationView(explanation, cut_segments(explanation.text, layers), frozenset(layers))


def explanation_html(
    explanation: Explanation, *, gold: Iterable[Span] | None = None, shortcuts: Iterable[Span] | None = None
) -> str:
    """Render a self-contained, escaped HTML fragment, fit for a notebook cell."""
    shown = view_explanation(explanation, gold=gold, shortcuts=shortcuts)
    samples = [to_html(sample) for sample in make_legend(shown.layers)]
    return render("explanation.html.j2", view=shown, text=to_html(shown.segments), legend=samples)


def explanation_text(
    explanation: Explanation, *, gold: Iterable[Span] | None = None, shortcuts: Iterable[Span] | None = None
) -> ExplanationView:
    """Make a rich renderable: styled on a terminal, with brackets without styles."""
    return view_explanation(explanation, gold=gold, shortcuts=shortcuts)
