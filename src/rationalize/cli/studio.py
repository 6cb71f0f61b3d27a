"""`rationalize studio`: try, annotate, audit, train and compare in the browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rationalize.cli import model_options as options
from rationalize.cli.data_options import ReadingFlags, add_reading_options
from rationalize.cli.flags import Browser, Device, Host, Port
from rationalize.cli.serve import name_models, require_packages
from rationalize.errors import ConfigError
from rationalize.format_names import ToolName
from rationalize.reporting.terminal import echo

if TYPE_CHECKING:
    from rationalize.serving.serve_settings import ServeSettings
    from rationalize.studio.pool import Pool

RUNNER = (sys.executable, "-m", "rationalize.cli.studio_job")
OUT = Path("studio")


@add_reading_options
def studio(
    data: options.StudioData = None,
    model: options.StudioModels = None,
    out: options.StudioOut = None,
    split: options.StudioSplit = None,
    demo: options.StudioDemo = False,
    study: options.StudioStudy = None,
    export: options.StudioExport = None,
    to: options.StudioTool = None,
    host: Host = "127.0.0.1",
    port: Port = 8010,
    api_key_file: options.StudioKey = None,
    allowed_host: options.StudioHost = None,
    seed: options.StudioSeed = 0,
    device: Device = "auto",
    browser: Browser = True,
    *,
    reading: ReadingFlags,
) -> None:
    """Open a page to try, annotate, audit, train and compare; all of it stays on this machine.

    Example: rationalize studio reviews.csv

    Example: rationalize studio data/movies --model runs/movies --out studio/movies

    Example: rationalize studio --demo
    """
    import os

    from rationalize.config import validate
    from rationalize.devices import resolve_device
    from rationalize.locks import hold_folder
    from rationalize.serving.api_key import read_api_key
    from rationalize.serving.serve_settings import ServeSettings

    if demo == (data is not None):
        raise ConfigError("studio: give DATA or --demo, one of them.")
    if to is not None and export is None:
        raise ConfigError("studio: --to needs --export.")
    pool = _make_demo_pool(seed) if demo else _read_pool(data, split, reading)
    folder = out or OUT / ("demo" if demo else pool.name)
    if export is not None:
        _export(folder, pool, export, reading, to)
        return
    models = name_models(model or [])
    key = read_api_key(api_key_file, os.environ)
    given = {"host": host, "port": port, "api_key": key, "device": device}
    settings = validate(ServeSettings, {**given, "allowed_hosts": tuple(allowed_host or ())}, "studio")
    resolve_device(device)  # fail now rather than once per model
    with hold_folder(folder, field="out"):
        _run(folder, pool, settings, models, study, seed=seed, demo=demo, browser=browser)


def _read_pool(data: Path | None, split: str | None, reading: ReadingFlags) -> Pool:
    from rationalize.studio.pool import read_pool

    return read_pool(data, split, reading.to_options())


def _make_demo_pool(seed: int) -> Pool:
    from rationalize.data.planted import PlantedConfig, build_corpus
    from rationalize.studio.pool import make_pool

    return make_pool(build_corpus(PlantedConfig(seed=seed, sizes={"train": 1200, "dev": 150})))


def _export(folder: Path, pool: Pool, export: Path, reading: ReadingFlags, to: ToolName | None) -> None:
    from rationalize.data.annotation import FORMATS
    from rationalize.files import atomic_file
    from rationalize.studio.studio_export import check_annotators, merge_annotations, to_export_line
    from rationalize.studio.studio_store import DATABASE, StudioStore

    if not (folder / DATABASE).is_file():
        raise ConfigError(f"{folder}: no studio there. Give the folder of one.", field="out")
    store = StudioStore(folder / DATABASE, pool.fingerprint)
    annotators = check_annotators(reading.annotators or "majority", store.read_people())
    found = list(merge_annotations(pool, store.read_all(), annotators))
    store.close()
    if to is not None:
        FORMATS[to].write(export, (each.example for each in found))
    else:
        with atomic_file(export) as file:
            file.writelines(map(to_export_line, found))
    echo(f"{len(found)} annotated {'text' if len(found) == 1 else 'texts'}: {export}")


def _run(
    folder: Path,
    pool: Pool,
    settings: ServeSettings,
    models: dict[str, Path],
    study: Path | None,
    *,
    seed: int,
    demo: bool,
    browser: bool,
) -> None:
    import webbrowser

    from rationalize.ratings.study import open_study

    with require_packages("studio"):
        from rationalize.serving.run_service import run_app
        from rationalize.studio.demo_model import train_demo_model
        from rationalize.studio.studio_app import create_studio
        from rationalize.studio.workshop import Studio, get_access_key

    given = settings.api_key
    key = given.get_secret_value() if given else get_access_key(folder)
    opened = Studio(
        folder,
        pool,
        settings,
        models=models,
        runner=RUNNER,
        study=open_study(study) if study else None,
        seed=seed,
    )
    if demo:
        train_demo_model(opened)

    def announce(address: str) -> None:
        # A key of the user's own is not printed.
        echo(f"Studio: {address}/" + ("" if given else f"?key={key}"))
        echo(f"Everything is kept in {folder}. Ctrl-C ends it.")
        if browser:
            webbrowser.open(f"{address}/?key={key}")

    try:
        run_app(create_studio(opened, key), settings, announce, opened.stopping.set)
    finally:
        opened.close()
