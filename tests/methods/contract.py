"""What the contract of methods is checked on: settings, batches, and counters. Knows no method by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from helpers import Listener, tiny_batch, tiny_corpus, tiny_model, tiny_tokenizer
from rationalize.config import TrainingConfig
from rationalize.methods.base import Losses, Method, Output, Phase, Turn
from rationalize.methods.registry import list_names
from rationalize.models.reading import Encoder
from rationalize.models.transformer_encoder import TransformerEncoder
from rationalize.text.batch import Batch, InputRow
from rationalize.training.loop import Trainer
from rationalize.types import Example

SEED = 3


@dataclass(frozen=True)
class Setting:
    """One way to use a method."""

    encoder: str
    n_classes: int
    query: bool
    layers: int = 1

    def __str__(self) -> str:
        return f"{self.encoder}-{self.n_classes}classes{'-query' if self.query else ''}"

    def method(self, name: str, seed: int = SEED) -> Method:
        """The method, untrained, in evaluation mode."""
        return self.model(name, seed).method

    def model(self, name: str, seed: int = SEED, **options):
        labels = tuple("ABC"[: self.n_classes])
        return tiny_model(
            name, labels=labels, encoder={"name": self.encoder, "layers": self.layers}, seed=seed, **options
        )

    def batch(self, examples: list[Example] | None = None) -> Batch:
        """Labeled rows of several lengths, all with gold, shortcuts and environments."""
        examples = uneven(tiny_corpus(6)) if examples is None else examples
        if self.query:
            examples = [replace(example, query="was the story any good ?") for example in examples]
        batch = tiny_batch(examples)
        turn = torch.arange(len(batch))
        return replace(batch, labels=turn % self.n_classes, environments=turn % 2)


SETTINGS = (
    Setting("tiny", 2, query=False),
    Setting("tiny", 3, query=True),
    Setting("gru", 2, query=True),
    Setting("gru", 3, query=False),
)


def mark_slow(setting: Setting) -> object:
    return pytest.param(setting, marks=pytest.mark.slow)


every_method = pytest.mark.parametrize("name", list_names())
each_encoder = pytest.mark.parametrize("setting", [SETTINGS[1], mark_slow(SETTINGS[2])], ids=str)
every_setting = pytest.mark.parametrize(
    "setting", [mark_slow(SETTINGS[0]), SETTINGS[1], mark_slow(SETTINGS[2]), SETTINGS[3]], ids=str
)


def uneven(examples: list[Example]) -> list[Example]:
    """The same examples with the ends of some texts cut off after their gold span."""
    return [
        replace(example, text=example.text[: max(span.end for span in example.rationale)])
        if index % 2
        else example
        for index, example in enumerate(examples)
    ]


def for_phase(batch: Batch, phase: Phase, method: Method) -> Batch:
    """The batch as training would show it in this phase."""
    blind = phase.pool == "rest" or method.about.supervision == "none"
    return without_gold(batch) if blind else batch


def without_gold(batch: Batch) -> Batch:
    """The batch as nobody annotated it: shortcuts are found with gold, so there are none either."""
    nothing = {name: torch.zeros_like(getattr(batch, name)) for name in ("gold", "has_gold", "shortcuts")}
    return replace(batch, **nothing)


def text_alone(batch: Batch) -> Batch:
    """The batch without anything that is unknown when a text is explained."""
    unknown = torch.full_like(batch.labels, -1)
    return replace(without_gold(batch), labels=unknown, environments=unknown)


def turns_of(method: Method) -> list[tuple[Phase, Turn]]:
    return [(phase, turn) for phase in method.phases() for turn in phase.turns]


def losses_of(method: Method, turn: Turn, batch: Batch, seed: int = SEED) -> Losses:
    """The loss parts of a turn, all chance fixed by the seed."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return method(turn, batch, torch.Generator().manual_seed(seed))


def some_mask(batch: Batch) -> Tensor:
    """About half of the selectable pieces."""
    drawn = torch.rand(batch.selectable.shape, generator=torch.Generator().manual_seed(SEED)) < 0.5
    return drawn & batch.selectable


def scramble(batch: Batch, mask: Tensor) -> Batch:
    """Other word pieces wherever the mask does not select a document piece."""
    specials = len(tiny_tokenizer().all_special_ids)
    generator = torch.Generator().manual_seed(SEED)
    others = torch.randint(specials, len(tiny_tokenizer()), mask.shape, generator=generator)
    hidden = batch.selectable & ~mask
    return replace(batch, input_ids=torch.where(hidden, others, batch.input_ids))


@contextmanager
def counted_passes(method: Method) -> Iterator[list[tuple[int, int, float]]]:
    """Collects every layer that is run: the shape of its input (rows, pieces), and its part of a whole encoder."""
    passes: list[tuple[int, int, float]] = []

    def count(part: float) -> Callable[..., None]:
        return lambda _, inputs, out: passes.append((*inputs[0].shape[:2], part))

    hooks = []
    for encoder in {module for module in method.modules() if isinstance(module, Encoder)}:
        if isinstance(encoder, TransformerEncoder):
            whole = encoder.model.config.num_hidden_layers  # also if it was cut to fewer
            hooks += [each.register_forward_hook(count(1 / whole)) for each in encoder.model.encoder.layer]
        else:
            hooks.append(encoder.register_forward_hook(count(1)))
    try:
        yield passes
    finally:
        for hook in hooks:
            hook.remove()


def train_rows(
    method: Method,
    pools: Mapping[str, list[InputRow]],
    config: TrainingConfig,
    folder: Path,
    display: Listener | None = None,
    *,
    resume: bool = False,
) -> None:
    """Train on rows, with nothing to choose epochs by."""
    Trainer(
        method,
        pools,
        config,
        seed=1,
        pad_id=0,
        folder=folder,
        evaluate=dict,
        score=lambda scores: None,
        display=display or Listener(),
    ).run(resume=resume)


def hide_some(name: str, encoder: str, masking: str) -> tuple[Method, Batch, Tensor]:
    """A method that hides pieces in this way, a batch, and a mask of some of its pieces."""
    method = tiny_model(name, encoder={"name": encoder}, selection={"masking": masking}).method
    batch = SETTINGS[1].batch()
    return method, batch, some_mask(batch)


def assert_same_output(one: Output, other: Output) -> None:
    """To the last bit."""
    assert torch.equal(one.mask, other.mask)
    assert torch.equal(one.scores, other.scores)
    assert torch.equal(one.logits, other.logits)


def same_weights(one: Method, other: Method) -> bool:
    pairs = zip(one.parameters(), other.parameters(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


@torch.no_grad()
def scale_heads(method: Method, factor: float) -> None:
    """Multiply everything outside encoders."""
    encoders = [module for module in method.modules() if isinstance(module, Encoder)]
    inside = {id(parameter) for encoder in encoders for parameter in encoder.parameters()}
    for parameter in method.parameters():
        if id(parameter) not in inside:
            parameter.mul_(factor)
