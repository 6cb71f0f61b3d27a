"""Whatever a caller sends that the interface describes, or does not, the service answers without failing."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from serving_helpers import BASE, asking, stub_app

from searches import search

pytestmark = pytest.mark.slow

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
PATIENT = search(60, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize(
    "path", ["/v1/explain", "/v1/predict", "/v1/models", "/healthz", "/readyz", "/metrics"]
)
def test_no_call_that_the_schema_allows_fails(path):
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    app = stub_app()
    with asking(app) as client:
        schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
        for found in schema.get_all_operations():
            operation = found.ok()
            if operation.path != path:
                continue

            @PATIENT
            @given(case=operation.as_strategy())
            def call(case):
                body = {"json": case.body} if case.method == "POST" else {}
                answer = client.request(case.method, path, headers=dict(case.headers or {}), **body)
                assert answer.status_code < 500, answer.text
                if answer.status_code >= 400:
                    assert answer.json()["error"]["expected"]

            call()


@pytest.mark.parametrize("path", ["/v1/explain", "/v1/predict"])
def test_no_call_of_any_shape_fails(path):
    with asking(stub_app()) as client:

        @PATIENT
        @given(
            body=ANYTHING
            | st.fixed_dictionaries(
                {},
                optional=dict.fromkeys(("text", "texts", "query", "queries", "model", "truncate"), ANYTHING),
            )
        )
        def call(body):
            answer = client.post(f"{BASE}{path}", json=body)
            assert answer.status_code < 500, answer.text
            if answer.status_code >= 400:
                assert answer.json()["error"]["what"]

        call()


@PATIENT
@given(body=st.binary(max_size=200))
def test_no_bytes_fail(body):
    with asking(stub_app()) as client:
        answer = client.post("/v1/explain", content=body, headers={"Content-Type": "application/json"})
        assert 400 <= answer.status_code < 500
