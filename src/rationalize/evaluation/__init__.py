"""A model on a data set: one table of results, with the trivial selectors beside it."""
