"""What scikit-learn expects of an estimator, without importing scikit-learn before it is used."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from rationalize.errors import ConfigError

if TYPE_CHECKING:
    from sklearn.utils import Tags


class Estimator:
    """Parameters by name, a score, and the tags of a text classifier.

    Parameters are the arguments of `__init__`, kept as attributes of the same names.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor arguments by name (none is an estimator, so `deep` changes nothing)."""
        return {name: getattr(self, name, None) for name in _parameters(type(self))}

    def set_params(self, **params: Any) -> Self:
        """Change arguments; this drops a trained model."""
        unknown = sorted(params.keys() - _parameters(type(self)))
        if unknown:
            known = ", ".join(_parameters(type(self)))
            raise ConfigError(f"set_params: no parameter {', '.join(unknown)}. Known: {known}.")
        if params:
            self.__init__(**{**self.get_params(), **params})  # type: ignore[misc]  # start over with the same class
        return self

    def score(self, texts: Sequence[Any], labels: Sequence[Any]) -> float:
        """Return the accuracy on labeled texts."""
        from sklearn.metrics import accuracy_score

        return float(accuracy_score(labels, self.predict(texts)))

    def predict(self, texts: Any) -> Any:
        """Predict the label of every text."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        inputs = InputTags(one_d_array=True, two_d_array=False, string=True)
        return Tags(
            "classifier", TargetTags(required=True), classifier_tags=ClassifierTags(), input_tags=inputs
        )


def _parameters(kind: type) -> list[str]:
    return [name for name in inspect.signature(kind.__init__).parameters if name != "self"]  # type: ignore[misc]
