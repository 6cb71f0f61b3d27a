"""Errors that a user's input can cause. Each message names the problem, the place, the value seen, the value
expected and a way out; the command line prints it without a traceback and exits with code 2."""

from __future__ import annotations


class RationalizeError(Exception):
    """A mistake that the user can fix.

    Attributes:
        fields: The arguments or settings that fix it, by their names in Python (`label_map`, `data.path`); the
            command line adds its own names for them.
    """

    def __init__(self, message: str = "", *, field: str | tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.fields = (field,) if isinstance(field, str) else field


class DataError(RationalizeError):
    """A data file, folder or archive that cannot be read as it stands."""


class ConfigError(RationalizeError):
    """A setting that is unknown, out of range, or does not fit the others."""


class EncoderError(RationalizeError):
    """An encoder or tokenizer that cannot be loaded or does not fit."""


class ModelFormatError(RationalizeError):
    """A saved model folder that is damaged, incomplete, or of another kind."""


class CheckpointError(RationalizeError):
    """A run that cannot be resumed from what is on disk."""


class BusyError(RationalizeError):
    """A folder that another process is writing to."""


class TrainingError(RationalizeError):
    """Training that had to stop, for instance because a loss was no longer a number."""
