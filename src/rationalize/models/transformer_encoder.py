"""Any Hugging Face model as an encoder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from rationalize.models._attending import attend_by
from rationalize.models._gated_attention import NAME, attend_through_gates
from rationalize.models._layer_slices import slice_layers
from rationalize.models._lookup import look_up
from rationalize.models.depth import LAYERED
from rationalize.models.encoder_pass import choose_layers, find_rows, round_again, run_pass, use_rows
from rationalize.models.masking import is_hard
from rationalize.models.reading import Encoder, Reading
from rationalize.text.batch import Batch

# First position of a text, if not 0: RoBERTa-like models reserve the first ones for padding.
FIRST_POSITION = {"roberta": 2, "xlm-roberta": 2, "camembert": 2, "longformer": 2}
# Models that take explicit positions and have no other source of order; with others, hidden pieces stay in the input.
PACKING = ("bert", "electra", "roberta", "xlm-roberta", "camembert")
# Where architectures keep their layers: BERT and its kin, LLaMA and its kin, GPT-2.
LAYER_LISTS = ("layer", "layers", "h")


class TransformerEncoder(Encoder):
    """Any Hugging Face encoder or decoder."""

    def __init__(self, model: Any, pooling: str, mask_id: int | None, pad_id: int) -> None:
        super().__init__()
        self.model = model
        self.hidden_size = int(model.config.hidden_size)
        self.depth = len(model.encoder.layer) if model.config.model_type in LAYERED else None
        self.pooling = pooling
        # Decoders have no [MASK]; padding is their nearest embedding for "nothing here".
        self.mask_id = pad_id if mask_id is None else mask_id
        self.takes_types = getattr(self.model.config, "type_vocab_size", 0) > 1
        absolute = getattr(model.config, "position_embedding_type", "absolute") == "absolute"
        self.packs = absolute and model.config.model_type in PACKING
        # Others have custom attention: there, hidden pieces get a gradient from pooling alone.
        self.has_gates = bool(getattr(model, "_supports_attention_backend", False))
        # Our mask replaces the model's own, so it must keep pieces from looking ahead.
        self.causal = any(getattr(module, "is_causal", False) for module in self.model.modules())
        self.has_pooler = pooling == "cls" and getattr(self.model, "pooler", None) is not None
        if not self.has_pooler and hasattr(self.model, "pooler"):
            self.model.pooler = None  # never used, so neither trained nor saved

    def embed(self, input_ids: Tensor) -> Tensor:
        return look_up(self.model.get_input_embeddings(), input_ids)

    def mask_embedding(self) -> Tensor:
        return self.embed(torch.tensor([self.mask_id], device=self.model.device))[0]

    def forward(
        self, embedded: Tensor, attention: Tensor, token_types: Tensor, positions: Tensor | None = None
    ) -> Reading:
        model = choose_layers(self.model)
        return self._finish(self._run(model, embedded, attention, token_types, positions), attention)

    def read(self, batch: Batch) -> Reading:
        known = self._recall(batch)
        return super().read(batch) if known is None else self._read_on(*known, None, batch)

    def read_to(self, batch: Batch, layers: int) -> Tensor:
        def read(embedded: Tensor, attention: Tensor, token_types: Tensor) -> Tensor:
            lower = slice_layers(choose_layers(self.model), 0, layers)
            hidden: Tensor = self._run(lower, embedded, attention, token_types).last_hidden_state
            return hidden

        if (known := self._recall(batch, layers)) is not None:
            return known[0] if known[1] == layers else self._read_on(*known, layers, batch).hidden
        return run_pass(read, self.embed(batch.input_ids), batch.attention, batch.token_types)

    def read_past(self, batch: Batch, layers: int) -> tuple[Tensor, Reading]:
        hidden = self.read_to(batch, layers)
        return hidden, self._read_on(hidden, layers, None, batch)

    def _recall(self, batch: Batch, layers: int | None = None) -> tuple[Tensor, int] | None:
        """Return what frozen layers made of these texts, and how many they are; None: not known, or too many."""
        if self.states is None or (layers is not None and layers < self.states.layers):
            return None
        hidden = self.states.find(batch)
        return None if hidden is None else (hidden, self.states.layers)

    def _read_on(self, hidden: Tensor, start: int, stop: int | None, batch: Batch) -> Reading:
        """Read on from the vectors of layer `start` up to layer `stop`."""

        def read(hidden: Tensor, attention: Tensor) -> Reading:
            upper = slice_layers(choose_layers(self.model), start, stop)
            return self._finish(self._attend(upper, {"inputs_embeds": hidden}, attention), attention)

        return run_pass(read, hidden, batch.attention)

    def checkpoint_layers(self) -> None:
        if not getattr(self.model, "supports_gradient_checkpointing", False):
            super().checkpoint_layers()
        settings = {"use_reentrant": False, "context_fn": self._compute_again}
        self.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=settings)
        # transformers then asks for a gradient of every embedding, which only reentrant checkpoints need: frozen layers
        # would have a backward pass, and its hook keeps a model from being handed to other processes.
        if hasattr(self.model, "_require_grads_hook"):
            self.model.disable_input_require_grads()

    def _compute_again(self) -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        """Return how to compute a layer, and how to compute it again: with the same attention and dropout."""
        gated = self.model.config._attn_implementation == NAME
        gates = attend_by(self.model, NAME, attend_through_gates) if gated else nullcontext()
        return nullcontext(), _enter(gates, use_rows(find_rows()), round_again(self.model.device))

    def list_layers(self) -> list[nn.Module]:
        stack = getattr(self.model, "encoder", self.model)
        return list(next(filter(None, (getattr(stack, name, None) for name in LAYER_LISTS)), ()))

    def keep_layers(self, layers: int) -> None:
        # The config stays as it is: a saved model describes the whole encoder, from which the same layers are kept.
        self.model.encoder.layer = nn.ModuleList(list(self.model.encoder.layer)[:layers])
        self.depth = layers

    def freeze_layers(self, layers: int) -> None:
        project = getattr(self.model, "embeddings_project", None)
        for part in (self.model.embeddings, project, *list(self.model.encoder.layer)[:layers]):
            if part is not None:
                part.requires_grad_(False)

    def _run(
        self,
        model: Any,
        embedded: Tensor,
        attention: Tensor,
        token_types: Tensor,
        positions: Tensor | None = None,
    ) -> Any:
        arguments: dict[str, Any] = {"inputs_embeds": embedded}
        if self.takes_types:
            arguments["token_type_ids"] = token_types
        if positions is not None:
            arguments["position_ids"] = positions + FIRST_POSITION.get(self.model.config.model_type, 0)
        return self._attend(model, arguments, attention)

    def _finish(self, out: Any, attention: Tensor) -> Reading:
        return Reading(out.last_hidden_state, self._pool(out, attention))

    def _attend(self, model: Any, arguments: dict[str, Any], attention: Tensor) -> Any:
        """Run a model, or some of its layers, so that no piece attends to hidden ones."""
        if attention.dtype == torch.bool:
            return model(**arguments, attention_mask=attention.long())
        if not (attention.requires_grad and self.has_gates and is_hard(attention)):
            return model(**arguments, attention_mask=_make_bias(attention, causal=self.causal))
        gates = attention[:, None, None, :]
        if self.causal:
            gates = gates.expand(-1, 1, attention.shape[1], -1).tril()
        mask = _make_bias(attention.detach(), causal=self.causal)
        with attend_by(model, NAME, attend_through_gates):
            return model(**arguments, attention_mask=mask, gates=gates)

    def _pool(self, out: Any, attention: Tensor) -> Tensor:
        hidden: Tensor = out.last_hidden_state
        if self.pooling == "mean":
            # Weighted by attention: a nearly hidden piece's own vector would give it away.
            weights = attention.to(hidden.dtype)[..., None]
            return (hidden * weights).sum(1) / weights.sum(1).clamp(min=1)
        if self.pooling == "last":
            positions = torch.arange(attention.shape[1], device=attention.device)
            last = ((attention > 0) * positions).argmax(-1)
            return hidden[torch.arange(hidden.shape[0], device=hidden.device), last]
        return out.pooler_output if self.has_pooler else hidden[:, 0]


@contextmanager
def _enter(*contexts: AbstractContextManager[None]) -> Iterator[None]:
    with ExitStack() as stack:
        for each in contexts:
            stack.enter_context(each)
        yield


def _make_bias(attention: Tensor, *, causal: bool) -> Tensor:
    """Return log(attention) for every query, to be added to attention scores. (b, n) -> (b, 1, n, n)."""
    # Half of the lowest number: sums stay finite even for a piece that may attend to nothing.
    lowest = torch.finfo(attention.dtype).min / 2
    bias = attention.clamp(min=torch.finfo(attention.dtype).tiny).log().masked_fill(attention <= 0, lowest)
    n = attention.shape[1]
    bias = bias[:, None, None, :].expand(-1, 1, n, -1)
    later = torch.ones(n, n, dtype=torch.bool, device=bias.device).triu(1)
    return bias.masked_fill(later, lowest) if causal else bias
