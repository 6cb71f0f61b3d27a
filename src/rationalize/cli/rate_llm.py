"""`rationalize rate llm`: let a language model grade rationales."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rationalize.cli.flags import Quiet, make_json_flag
from rationalize.reporting.terminal import echo, echo_json

if TYPE_CHECKING:
    from rationalize.ratings.llm import Estimate, Outcome


def llm(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A study made by `rate prepare`.")],
    base_url: Annotated[
        str, typer.Option(help="Address of an OpenAI-compatible API, e.g. http://127.0.0.1:8000/v1.")
    ],
    model: Annotated[str, typer.Option(help="The model's name there.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the estimated cost.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before sending.")] = False,
    price_in: Annotated[float | None, typer.Option(min=0, help="Price of a million tokens sent.")] = None,
    price_out: Annotated[
        float | None, typer.Option(min=0, help="Price of a million tokens received.")
    ] = None,
    per_minute: Annotated[
        float | None, typer.Option(min=0.01, help="Maximum number of calls per minute.")
    ] = None,
    timeout_s: Annotated[float, typer.Option(min=0.1, help="Seconds to wait for an answer.")] = 120.0,
    attempts: Annotated[int, typer.Option(min=1, help="Attempts per call after temporary failures.")] = 5,
    temperature: Annotated[float, typer.Option(help="Below 0: not sent, for models that refuse it.")] = 0.0,
    as_json: Annotated[bool, make_json_flag("Print the outcome as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Let a language model grade the items it has not graded yet. Texts are sent to BASE_URL.

    The key, if the API needs one, is read from RATIONALIZE_LLM_KEY or OPENAI_API_KEY. Exit code 2 if items failed.

    Example: rationalize rate llm study --base-url http://127.0.0.1:8000/v1 --model my-model --dry-run
    """
    from rationalize.data.fetch import Patience
    from rationalize.ratings.endpoint import Endpoint, Pace, read_key
    from rationalize.ratings.llm import rate_study
    from rationalize.reporting.progress import track

    def agree(wanted: Estimate) -> bool:
        if wanted.calls and not (dry_run or yes):
            _confirm(wanted, endpoint.url)
        return not dry_run

    endpoint = Endpoint(
        base_url,
        model,
        key=read_key(),
        temperature=temperature if temperature >= 0 else None,
        patience=Patience(attempts=attempts, timeout_s=timeout_s, longest_pause_s=600.0),
        pace=Pace(per_minute),
    )
    wanted, outcome = rate_study(
        folder,
        endpoint,
        agree,
        price_in=price_in,
        price_out=price_out,
        watch=lambda items, total: track(items, f"asking {model}", total, quiet=quiet),
    )
    if outcome is None:
        echo_json(asdict(wanted)) if as_json else echo(_describe_cost(wanted))
        return
    _show(outcome, wanted, folder, as_json=as_json)
    if outcome.failed:
        raise typer.Exit(2)


def _describe_cost(wanted: Estimate) -> str:
    price = "" if wanted.price is None else f", price about {wanted.price:.2f}"
    return (
        f"{wanted.calls} calls, about {wanted.tokens_in} tokens sent and {wanted.tokens_out} received "
        f"(by characters / 4){price}"
    )


def _confirm(wanted: Estimate, url: str) -> None:
    from rationalize.errors import ConfigError

    try:
        typer.confirm(f"{_describe_cost(wanted)}.\nSend the texts to {url}?", abort=True, err=True)
    except typer.Abort:
        raise ConfigError("not confirmed; nothing was sent. Add --yes to send without asking.") from None


def _show(outcome: Outcome, wanted: Estimate, folder: Path, *, as_json: bool) -> None:
    if as_json:
        echo_json({**asdict(outcome), "estimate": asdict(wanted)})
        return
    failed = len(outcome.failed)
    echo(f"{outcome.rater}: {outcome.rated} rated, {outcome.skipped} rated before, {failed} failed.")
    for failure in outcome.failed:
        echo(f"  {failure.item}: {failure.reason}", err=True)
    if failed:
        echo("Run the same command again to retry the failed items.", err=True)
    else:
        echo(f"Next: rationalize rate report {folder}")
