"""`rationalize serve`: serve explanations over HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rationalize.cli import model_options as options
from rationalize.cli.flags import Device, Host, Port, Trust, parse_floors
from rationalize.errors import ConfigError
from rationalize.reporting.terminal import echo

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def serve(
    model: options.ServedModels,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    api_key_file: options.ServedKey = None,
    allowed_host: options.ServedHost = None,
    trust: Trust = None,
    device: Device = "auto",
    precision: options.InPrecision = "fp32",
    workers: options.ServedWorkers = 1,
    limit: options.ServedLimit = None,
    min_confidence: options.MinConfidence = None,
    quiet: options.OnlyProblems = False,
) -> None:
    """Serve models over HTTP: POST /v1/explain, POST /v1/predict, GET /v1/models, /healthz, /readyz, /metrics.

    Example: rationalize serve runs/movies

    Example: rationalize serve movies=runs/ssr hotel=runs/base --port 9000 --limit text_chars=10000

    Example: rationalize serve runs/movies --workers 2
    """
    import logging
    import os

    folders = name_models(model)
    with require_packages("serve"):
        from rationalize.serving.api_key import read_api_key
        from rationalize.serving.run_service import run_service
        from rationalize.serving.serve_settings import ServeSettings
    from rationalize.config import validate
    from rationalize.devices import resolve_device

    key = read_api_key(api_key_file, os.environ)
    values = {
        "host": host,
        "port": port,
        "api_key": key,
        "device": device,
        "precision": precision,
        "workers": workers,
        "trust": trust,
        "min_confidence": parse_floors(min_confidence),
        "limits": _parse_limits(limit or []),
    }
    settings = validate(ServeSettings, {**values, "allowed_hosts": tuple(allowed_host or ())}, "serve")
    resolve_device(device)  # fail now rather than once per model in a running service
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("rationalize").setLevel(logging.WARNING if quiet else logging.INFO)
    run_service(settings, folders, lambda address: echo(f"Serving {', '.join(folders)} at {address}"))


@contextmanager
def require_packages(verb: str) -> Iterator[None]:
    """Say what to install if an import inside fails for want of the extra `serve`."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "rationalize":
            raise
        raise ConfigError(
            f"{verb}: the package {error.name} is missing. Install what the service needs: "
            "pip install 'rationalize[serve]'"
        ) from None


def name_models(given: Sequence[str]) -> dict[str, Path]:
    """Return folders by model name: the given name, or the folder's."""
    found: dict[str, Path] = {}
    for each in given:
        name, equals, path = each.rpartition("=")
        folder = Path(path)
        if not folder.is_dir():
            raise ConfigError(
                f"MODEL {each}: no such folder. Expected a model or run folder, or NAME=FOLDER."
            )
        if not equals:
            own = folder.resolve()
            name = own.parent.name if own.name == "model" else own.name
        if not NAME.fullmatch(name) or name in found:
            problem = "used twice" if name in found else "not usable"
            raise ConfigError(
                f"MODEL {each}: the name {name!r} is {problem}. Expected letters, digits, dots, dashes, each name "
                f"once. Give another one: NAME={path}"
            )
        found[name] = folder
    return found


def _parse_limits(given: Sequence[str]) -> dict[str, float]:
    found = {}
    for each in given:
        name, _, number = each.partition("=")
        try:
            found[name] = float(number)
        except ValueError:
            raise ConfigError(f"--limit {each}: expected NAME=NUMBER, for instance queue_texts=64.") from None
    return found
