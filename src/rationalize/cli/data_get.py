"""`rationalize data get`: fetch and unpack a data set."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from rationalize.cli.flags import make_json_flag
from rationalize.data.archives import Limits
from rationalize.data.catalog import NAMED, OFFICIAL_URL, DataFolder, find_source, get_data
from rationalize.data.fetch import Patience, Watcher
from rationalize.reporting.terminal import echo, echo_json, make_console

GIB = 2**30
_DEFAULTS = Limits()


def get(
    source: Annotated[
        str,
        typer.Argument(
            metavar="NAME|URL|FILE", help=f"One of {', '.join(NAMED)}; an http(s) address; or a file."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Folder to make; data/NAME if not given.")] = None,
    sha256: Annotated[str | None, typer.Option(help="SHA-256 that the archive must have.")] = None,
    base_url: Annotated[
        str, typer.Option(envvar="RATIONALIZE_DATA_URL", help="Address of the named data sets.")
    ] = OFFICIAL_URL,
    force: Annotated[bool, typer.Option("--force", help="Replace a folder that was fetched before.")] = False,
    max_gib: Annotated[
        int, typer.Option(min=1, help="Largest size to unpack, in GiB.")
    ] = _DEFAULTS.total_bytes // GIB,
    max_members: Annotated[int, typer.Option(min=1, help="Most files to unpack.")] = _DEFAULTS.members,
    deadline_s: Annotated[
        float, typer.Option(min=1, help="Seconds that the download may take, retries and pauses included.")
    ] = Patience().deadline_s,
    as_json: Annotated[bool, make_json_flag("Print the outcome as JSON.")] = False,
) -> None:
    """Fetch a data set (.tar.gz or .zip), check it and unpack it into its own folder.

    Run the same command again to continue an interrupted download.
    """
    limits = Limits(max_gib * GIB, max_members)
    with _open_watcher() as watcher:
        folder = get_data(
            find_source(source, base_url),
            out=out,
            sha256=sha256,
            force=force,
            limits=limits,
            patience=Patience(deadline_s=deadline_s),
            watcher=watcher,
        )
    echo_json(_describe_outcome(folder)) if as_json else echo(_format_outcome(folder))


def _describe_outcome(folder: DataFolder) -> dict[str, object]:
    return {
        "folder": str(folder.path),
        "fetched": folder.fetched,
        **folder.record,
        "next": _suggest_next(folder),
    }


def _format_outcome(folder: DataFolder) -> str:
    record = folder.record
    lines = []
    if record:
        lines.append(
            f"source: {record.get('source')} ({record.get('bytes')} bytes, SHA-256 {record.get('sha256')})"
        )
    if folder.fetched:
        lines.append(
            f"unpacked: {record['members']:,} files, {record['unpacked_bytes']:,} bytes in {folder.path}"
        )
    else:
        lines.append(f"{folder.path} exists already; nothing was done (--force replaces it)")
    return "\n".join([*lines, f"next: {_suggest_next(folder)}"])


def _suggest_next(folder: DataFolder) -> str:
    return f"rationalize data check {shlex.quote(str(folder.path))}"


class _Lines(Watcher):
    """Progress without a terminal: a line at every tenth of the way."""

    def __init__(self) -> None:
        self._tenth = 0

    def progress(self, done: int, total: int | None) -> None:
        tenth = 10 * done // total if total else done // (64 * 2**20)
        if tenth > self._tenth:
            self.note(f"{done:,} of {total:,} bytes" if total else f"{done:,} bytes")
        self._tenth = tenth

    def note(self, text: str) -> None:
        echo(text, err=True)


@contextmanager
def _open_watcher() -> Iterator[Watcher]:
    """Yield a progress bar on a terminal's standard error, plain lines elsewhere."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=make_console(stderr=True)) as bar:
        task = bar.add_task("download", visible=False)

        class Bar(Watcher):
            def progress(self, done: int, total: int | None) -> None:
                bar.update(task, completed=done, total=total, visible=True)

            def note(self, text: str) -> None:
                bar.console.print(text)

        yield Bar()
