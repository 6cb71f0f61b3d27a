"""Notice encoders that teach a selector nothing about the words that it hides."""

from __future__ import annotations

from rationalize.config import RunConfig
from rationalize.methods.base import Method
from rationalize.models.transformer_encoder import TransformerEncoder


def describe_blind_masks(config: RunConfig, method: Method) -> list[str]:
    """Describe what hard attention masks miss in encoders that attend in a way of their own, as MPNet does.

    Hidden pieces have a slope through attention that takes gates, or through pooling that weighs all pieces.
    """
    selection = config.options.get("selection", {})
    hard = selection.get("masking") == "attention" and str(selection.get("sampler", "")).endswith("hard")
    encoders = [each for each in method.modules() if isinstance(each, TransformerEncoder)]
    blind = [each for each in encoders if not each.has_gates and each.pooling != "mean"]
    if not hard or not blind:
        return []
    kind = blind[0].model.config.model_type
    return [
        f"A {kind} encoder attends in a way of its own: under hard masks with attention masking, hidden words have no "
        "gradient, so that the selector does not learn what they would have told. Set options.selection.masking=mix, "
        "or encoder.pooling=mean."
    ]
