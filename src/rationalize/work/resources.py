"""What a task asks of a cluster."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from rationalize.config import Strict
from rationalize.errors import ConfigError


class Resources(Strict):
    """CPUs and GPUs that a cluster sets aside for one cell or trial. On this machine they are not asked for."""

    cpus: Annotated[float, Field(gt=0)] = 1
    gpus: Annotated[float, Field(ge=0)] = 0
    """A part of one, for instance 0.5, lets tasks share a GPU."""

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        for name, value in (("cpus", self.cpus), ("gpus", self.gpus)):
            if value > 1 and value != int(value):
                raise ValueError(f"{name}: saw {value:g}, expected a whole number, or a part of one")
        return self

    def check_device(self, device: str) -> None:
        """Refuse a device that a task with these resources would not find on its node.

        Raises:
            ConfigError: If it names a GPU by number, or one that was not asked for.
        """
        if device in ("auto", "cpu") or (device == "cuda" and self.gpus):
            return
        if device == "cuda":
            raise ConfigError(
                "device: 'cuda', but resources.gpus is 0. Ask for a GPU, for instance resources: {gpus: 1}.",
                field=("device", "resources.gpus"),
            )
        raise ConfigError(
            f"device: {device!r} on a cluster, which chooses the GPU itself. Expected auto, cpu or cuda.",
            field="device",
        )

    def __str__(self) -> str:
        return f"{self.cpus:g} CPU and {self.gpus:g} GPU"
