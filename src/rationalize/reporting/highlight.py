"""An explanation to look at: the label, how sure, how faithful, and the text with its rationale marked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from rationalize.reporting.layers import Layer, Segment, cut_segments, layers_of
from rationalize.reporting.marks import legend, to_html, to_plain, to_terminal
from rationalize.reporting.templating import one_line, render
from rationalize.reporting.wording import method_name, percent
from rationalize.types import Explanation, Span

SHOWN_CLASSES = 5


@dataclass(frozen=True, slots=True)
class ExplanationView:
    """What every front end shows of an explanation; rich prints it as it stands."""

    explanation: Explanation
    segments: tuple[Segment, ...]
    layers: frozenset[Layer]

    @property
    def method(self) -> str:
        """The method's name."""
        return method_name(self.explanation.method, oracle_label=self.explanation.oracle_label)

    @property
    def sureness(self) -> str:
        """Probability of the predicted class."""
        return percent(self.explanation.probabilities.get(self.explanation.label))

    @property
    def others(self) -> list[tuple[str, float]]:
        """The next most probable classes."""
        rest = [item for item in self.explanation.probabilities.items() if item[0] != self.explanation.label]
        return sorted(rest, key=lambda item: -item[1])[: SHOWN_CLASSES - 1]

    @property
    def readings(self) -> list[tuple[str, str, str]]:
        """What the predictor says of the full text and of the rationale alone: (text, label, probability)."""
        named = [
            ("full text", self.explanation.from_full_text),
            ("rationale alone", self.explanation.from_rationale),
        ]
        found = []
        for name, probabilities in named:
            if probabilities:
                label = max(probabilities, key=probabilities.__getitem__)
                found.append((name, label, percent(probabilities[label])))
        return found

    @property
    def dependence(self) -> str:
        """In words, whether the label depends on the selected words alone."""
        if self.explanation.faithful:
            return "faithful: the label depends on selected words only"
        return "not faithful: the label depends on other words too"

    @property
    def amount(self) -> str:
        """How many words were selected."""
        selected, total = sum(self.explanation.selected), len(self.explanation.selected)
        share = percent(selected / total) if total else percent(None)
        return f"{selected} of {total} words selected ({share})"

    def facts(self) -> list[str]:
        """The lines above the text."""
        head = f"{self.explanation.label} {self.sureness}"
        others = ", ".join(f"{label} {percent(probability)}" for label, probability in self.others)
        readings = "; ".join(f"{name}: {label} {sure}" for name, label, sure in self.readings)
        lines = [f"{head} ({others})" if others else head, readings, self.amount]
        lines += [f"{self.method}, {self.dependence}"]
        lines += [f"query: {self.explanation.query}"] if self.explanation.query else []
        return [one_line(line) for line in lines if line]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # Without colors rich drops bold and underline too, so the marks must be characters.
        styled = console.color_system is not None
        show = to_terminal if styled else _plain_text
        first, *rest = self.facts()
        yield Text(first, style="bold")
        yield from (Text(line, style="dim") for line in rest)
        yield Text("")
        yield show(self.segments)
        yield Text("")
        yield Text("  ").join(show(sample) for sample in legend(self.layers))


def _plain_text(segments: Iterable[Segment]) -> Text:
    return Text(to_plain(segments))


def view(
    explanation: Explanation, *, gold: Iterable[Span] | None = None, shortcuts: Iterable[Span] | None = None
) -> ExplanationView:
    """An explanation with the layers that are to be shown on its text."""
    layers = layers_of(explanation, gold=gold, shortcuts=shortcuts)
    return ExplanationView(explanation, cut_segments(explanation.text, layers), frozenset(layers))


def explanation_html(
    explanation: Explanation, *, gold: Iterable[Span] | None = None, shortcuts: Iterable[Span] | None = None
) -> str:
    """A self-contained, escaped HTML fragment, fit for a notebook cell."""
    shown = view(explanation, gold=gold, shortcuts=shortcuts)
    samples = [to_html(sample) for sample in legend(shown.layers)]
    return render("explanation.html.j2", view=shown, text=to_html(shown.segments), legend=samples)


def explanation_text(
    explanation: Explanation, *, gold: Iterable[Span] | None = None, shortcuts: Iterable[Span] | None = None
) -> ExplanationView:
    """A rich renderable: styled on a terminal, with brackets where there are no styles."""
    return view(explanation, gold=gold, shortcuts=shortcuts)
