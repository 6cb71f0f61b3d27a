"""A small saved model."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="package")
def folder(tmp_path_factory):
    """An untrained model on the tiny encoder."""
    from helpers import tiny_model
    from rationalize.runs.model_folder import save_model

    path = tmp_path_factory.mktemp("served") / "movies"
    save_model(path, tiny_model("un_rat"), "# card\n")
    return path
