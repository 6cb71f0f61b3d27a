"""The plainest classifier: what it reads, and that it is always the same."""

from __future__ import annotations

from rationalize.evaluation.bag_of_words import BagOfWords, train_bag
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


def accuracy(bag, examples):
    labels = bag.predict(examples)
    return sum(labels[each.id] == each.label for each in examples) / len(examples)


def test_it_learns_from_words_and_from_the_query_if_that_is_read():
    train, test = (
        claims(),
        [Example(f"new {each.id}", each.text, each.label, each.query) for each in claims(8)],
    )
    assert accuracy(BagOfWords(train), test) == 1.0
    unread = BagOfWords(train, use_query=False)
    assert unread.predict(test[:1]) == unread.predict([Example(test[0].id, test[0].text, query="poor")])


def test_a_word_of_the_query_is_not_one_of_the_text():
    bag = BagOfWords(claims())
    assert bag.predict([Example("x", "poor", query="it")]) == {"x": "NEG"}
    assert bag.predict([Example("x", "it", query="fine")]) == {"x": "POS"}


def test_the_same_examples_make_the_same_labels():
    once, again = BagOfWords(claims()), BagOfWords(list(reversed(claims())))
    assert once.predict(claims(12)) == again.predict(claims(12))


def test_texts_without_a_word_have_no_bag():
    empty = [Example("a", "", "POS"), Example("b", "", "NEG")]
    assert train_bag(empty, words="unicode", use_query=True) is None
