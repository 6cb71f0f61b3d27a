"""What a trained Rationalizer is written to: a model folder, one for ONNX Runtime, the Hub."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rationalize._trained import Trained
from rationalize.errors import ConfigError

if TYPE_CHECKING:
    from rationalize.runs.model_export import ExportedModel


class Saved(Trained):
    """A trained Rationalizer that can be saved, exported and uploaded."""

    def save_pretrained(self, folder: str | Path, *, sign: str | Path | bytes | None = None) -> None:
        """Write the model folder: weights, tokenizer, config with provenance, card, manifest.

        Args:
            folder: Where it goes.
            sign: A private Ed25519 key (PEM, or its file) to sign it with; see `from_pretrained(trust=…)`.
        """
        from rationalize.reporting.card import render_card
        from rationalize.runs.model_folder import save_model

        save_model(Path(folder), self.model, render_card(self.model.config), sign=sign)

    def export(
        self,
        folder: str | Path,
        *,
        to: str = "onnx",
        int8: bool = False,
        sign: str | Path | bytes | None = None,
    ) -> ExportedModel:
        """Write a model folder that runs in ONNX Runtime; `from_pretrained` loads it as any other.

        Args:
            folder: Where to; an old folder is replaced.
            to: The format; onnx is the only one.
            int8: Round the encoders' matrices to 8 bits: faster, and nearly the same answers.
            sign: A private key to sign the folder with, as in `save_pretrained`.

        Raises:
            ConfigError: If this model cannot be exported, with the reason.
        """
        from rationalize.reporting.card import render_card
        from rationalize.runs.model_export import export_model

        if to != "onnx":
            raise ConfigError(f"to: {to!r} is not a known format. Expected onnx.", field="to")
        return export_model(self.model, Path(folder), render_card, int8=int8, sign=sign)

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
