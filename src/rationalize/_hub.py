"""Fetch and push model folders on the Hugging Face Hub. Nothing is fetched unless an id is given."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from rationalize.errors import ModelFormatError

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


def find_folder(name: str | Path, *, revision: str | None = None, token: str | None = None) -> Path:
    """Return a model's local folder: the given one, or a snapshot of the Hub repository with that id."""
    path = Path(name)
    if path.is_dir():
        return path
    if not isinstance(name, str) or not _HUB_ID.fullmatch(name):
        raise ModelFormatError(
            f"{name}: no such model folder. Expected one written by `rationalize train` or `save_pretrained`, or a "
            "Hub id such as owner/name."
        )
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, revision=revision, token=token))
    except Exception as error:  # the Hub and the network raise many kinds of errors
        reason = str(error).strip().split("\n")[0]
        raise ModelFormatError(
            f"{name}: no such local folder, and the Hub download failed: {reason} "
            "Check the id, the network and, for a private model, the token."
        ) from error


def push_folder(
    write: Callable[[Path], None], repo_id: str, *, private: bool, token: str | None, message: str
) -> str:
    """Write a model folder, upload it and return its address."""
    from huggingface_hub import HfApi

    if not _HUB_ID.fullmatch(repo_id):
        raise ModelFormatError(f"repo_id: saw {repo_id!r}, expected an id such as owner/name.")
    api = HfApi(token=token)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "model"
        write(folder)
        api.create_repo(repo_id, private=private, exist_ok=True)
        return str(api.upload_folder(repo_id=repo_id, folder_path=folder, commit_message=message))
