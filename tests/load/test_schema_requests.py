"""Thousands of requests derived from the service's own description: none fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tally import Tally

sys.path.append(str(Path(__file__).parents[1] / "serving"))
from serving_helpers import asking, stub_app

SHARES = {
    "/v1/explain": 0.4,
    "/v1/predict": 0.4,
    "/v1/models": 0.05,
    "/healthz": 0.05,
    "/readyz": 0.05,
    "/metrics": 0.05,
}


def attack(times: int) -> Tally:
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    tally = Tally("requests by the schema", 3600)
    with asking(stub_app()) as client:
        schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
        for found in schema.get_all_operations():
            operation = found.ok()

            @settings(
                max_examples=round(times * SHARES[operation.path]),
                suppress_health_check=list(HealthCheck),
                database=None,
            )
            @given(case=operation.as_strategy())
            def call(case):
                body = {"json": case.body} if case.method == "POST" else {}
                answer = client.request(
                    case.method, case.operation.path, headers=dict(case.headers or {}), **body
                )
                good = answer.status_code < 400 or (
                    answer.status_code < 500 and answer.json()["error"]["expected"]
                )
                tally.count(str(answer.status_code)) if good else tally.fail(
                    f"{answer.status_code}: {case.body!r:.300}"
                )

            if operation.method.upper() != "GET":
                call()
            else:  # nothing in them can vary
                for _ in range(round(times * SHARES[operation.path])):
                    answer = client.get(operation.path)
                    tally.count(str(answer.status_code)) if answer.status_code == 200 else tally.fail(
                        operation.path
                    )
    return tally


def test_some_requests_by_the_schema():
    attack(60).close(40)


@pytest.mark.slow
def test_ten_thousand_requests_by_the_schema():
    attack(10_000).close(10_000)
