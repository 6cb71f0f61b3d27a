"""Whatever is posted to the studio, it answers without failing, and keeps only what makes sense."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from studio_helpers import KEY, Browser, make_studio

from rationalize.studio.studio_app import create_studio
from searches import search

pytestmark = pytest.mark.slow

PATIENT = search(40, suppress_health_check=list(HealthCheck))
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
)
VALUES = LEAVES | st.lists(LEAVES, max_size=3) | st.dictionaries(st.text(max_size=5), LEAVES, max_size=3)
FIELDS = (
    "words",
    "label",
    "note",
    "state",
    "change",
    "name",
    "key",
    "ordering",
    "phrase",
    "verdict",
    "method",
)
BODIES = st.dictionaries(st.sampled_from(FIELDS), VALUES) | VALUES
NUMBERS = st.integers() | st.text("0123456789-x%2f", min_size=1, max_size=30)


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    studio = make_studio(tmp_path_factory.mktemp("studio"), models=())
    yield studio
    studio.close()


@PATIENT
@given(
    path=st.sampled_from(
        ["/annotate/1", "/annotate/undo", "/annotate/ordering", "/hello", "/enter", "/audit/verdict",
         "/train/run-1/stop", "/models/x/use", "/models/x/load", "/train/start"]
    ),
    body=BODIES,
)  # fmt: skip
def test_no_post_fails(studio, path, body):
    answer = Browser(create_studio(studio, KEY)).post(path, body)
    assert answer.status_code < 500, answer.text
    assert all(0 <= span.start < span.end for each in studio.store.read_all() for span in each.spans)


@PATIENT
@given(number=NUMBERS)
def test_no_address_fails(studio, number):
    browser = Browser(create_studio(studio, KEY))
    for path in (f"/annotate/{number}", f"/annotate/{number}/suggestion", f"/train/{number}/events"):
        assert browser.get(path).status_code < 500
