from __future__ import annotations

import sqlite3

import pytest

from rating_studies import small_study
from rationalize.errors import ConfigError, DataError
from rationalize.ratings.rating_store import Failure, Rating, RatingStore, check_person_name, lock_rater
from rationalize.ratings.session import Session


@pytest.fixture
def study(tmp_path):
    return small_study(tmp_path)


def test_a_new_grade_replaces_the_raters_own_only(study):
    store = RatingStore(study)
    store.save("item-01", "anna", {"usefulness": 2, "fluency": 3})
    store.save("item-01", "bert", {"usefulness": 5})
    store.save("item-01", "anna", {"usefulness": 4})
    assert RatingStore(study).read_ratings() == [
        Rating("item-01", "anna", "fluency", 3),
        Rating("item-01", "anna", "usefulness", 4),
        Rating("item-01", "bert", "usefulness", 5),
    ]


def test_a_failure_is_forgotten_once_rated(study):
    store = RatingStore(study)
    failures = [Failure(item, "llm:x", "nonsense") for item in ("item-01", "item-02")]
    for failure in failures:
        store.save_failure(failure)
    store.save("item-01", "llm:x", {"fluency": 3})
    assert store.read_failures() == failures[1:]


def test_a_batch_is_kept_whole_or_not_at_all(study):
    store = RatingStore(study)
    with pytest.raises(DataError, match=r"ratings\.sqlite"):
        store.save("item-01", "anna", {"usefulness": 2, "fluency": 6})
    assert store.read_ratings() == []


def test_ratings_of_other_items_are_not_mixed_in(study):
    with sqlite3.connect(RatingStore(study).path) as database:
        database.execute("UPDATE study SET items_sha256 = 'other'")
    database.close()
    with pytest.raises(DataError, match="other items"):
        RatingStore(study)


def test_what_is_no_database_is_reported(study):
    (study.folder / "ratings.sqlite").write_text("no database at all, but long enough to be looked at " * 9)
    with pytest.raises(DataError, match="not usable as a ratings file"):
        RatingStore(study)


def test_nobody_rates_under_a_name_in_use(study):
    with lock_rater(study, "anna"):
        with pytest.raises(ConfigError, match="another program is rating"), lock_rater(study, "anna"):
            pass
        with lock_rater(study, "bert"):
            pass
    with lock_rater(study, "anna"):
        pass


@pytest.mark.parametrize("name", ["", "llm:gpt", "a/b", " a", "x" * 65, "a\nb"])
def test_names_that_no_person_may_have(name):
    with pytest.raises(ConfigError, match="rater"):
        check_person_name(name)


def test_a_session_goes_on_where_it_stopped(study):
    store = RatingStore(study)
    session = Session(study, store, "anna")
    places = range(1, len(study.items) + 1)
    order = [session.view(place).item for place in places]
    assert sorted(item.id for item in order) == [item.id for item in study.items]
    assert [Session(study, store, "bert").view(place).item for place in places] != order
    for question in ("usefulness", "completeness"):
        session.save(order[0].id, question, 3)
    assert session.view().first_open == 1
    assert session.save(order[0].id, "fluency", 1) == 1
    again = Session(study, store, "anna")
    assert (again.view().first_open, again.view(1).item) == (2, order[0])
    assert again.view(1).grades == {"usefulness": 3, "completeness": 3, "fluency": 1}
    assert again.view(0).item is again.view(len(order) + 1).item is None


@pytest.mark.parametrize(
    "sent",
    [("item-99", "fluency", 3), ("item-01", "beauty", 3), ("item-01", "fluency", 0), (None, "fluency", 3)],
)
def test_nonsense_is_not_saved(study, sent):
    store = RatingStore(study)
    for wrong in (
        sent,
        ("item-01", "fluency", True),
        ("item-01", "fluency", "3"),
        ("item-01", ["fluency"], 3),
    ):
        with pytest.raises(DataError):
            Session(study, store, "anna").save(*wrong)
    assert store.read_ratings() == []
