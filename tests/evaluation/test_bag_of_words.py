"""The plainest classifier: what it reads, and that it is always the same."""

from __future__ import annotations

from rationalize.evaluation.bag_of_words import read_bag, train_bag, write_bag
from rationalize.types import Example


def claims(n=40):
    """The query alone tells the label of every other example, the text that of the rest."""
    rows = []
    for index in range(n):
        good = index % 4 < 2
        word, claim = ("fine", "it") if index % 2 else ("it", "fine")
        text, query = (word, claim) if good else (word.replace("fine", "poor"), claim.replace("fine", "poor"))
        rows.append(Example(str(index), f"{text} {index}", "POS" if good else "NEG", query))
    return rows


def bag_of(examples, *, use_query=True):
    return train_bag(examples, words="unicode", use_query=use_query)


def accuracy(bag, examples):
    labels = bag.predict(examples)
    return sum(labels[each.id] == each.label for each in examples) / len(examples)


def test_it_learns_from_words_and_from_the_query_if_that_is_read():
    train, test = (
        claims(),
        [Example(f"new {each.id}", each.text, each.label, each.query) for each in claims(8)],
    )
    assert accuracy(bag_of(train), test) == 1.0
    unread = bag_of(train, use_query=False)
    assert unread.predict(test[:1]) == unread.predict([Example(test[0].id, test[0].text, query="poor")])


def test_a_word_of_the_query_is_not_one_of_the_text():
    bag = bag_of(claims())
    assert bag.predict([Example("x", "poor", query="it")]) == {"x": "NEG"}
    assert bag.predict([Example("x", "it", query="fine")]) == {"x": "POS"}


def test_the_same_examples_make_the_same_labels():
    once, again = bag_of(claims()), bag_of(list(reversed(claims())))
    assert once.predict(claims(12)) == again.predict(claims(12))


def test_texts_without_a_word_have_no_bag():
    empty = [Example("a", "", "POS"), Example("b", "", "NEG")]
    assert train_bag(empty, words="unicode", use_query=True) is None


def test_of_three_classes_the_likeliest_is_taken(tmp_path):
    train = [
        Example(f"{word} {i}", f"{word} thing", word) for word in ("red", "green", "blue") for i in range(5)
    ]
    bag = bag_of(train)
    labels = bag.predict([Example(word, f"a {word} one") for word in ("red", "green", "blue")])
    assert labels == {word: word for word in ("red", "green", "blue")}
    write_bag(tmp_path, bag)
    assert read_bag(tmp_path / "model") == bag
    assert read_bag(tmp_path / "model" / "deeper") is None


def test_one_label_is_nothing_to_learn():
    assert bag_of([Example("a", "some words", "POS"), Example("b", "other words", "POS")]) is None
