"""Find the evidence sentence, then classify it: two models that never meet in training."""

from rationalize.methods.pipeline.pipeline import Pipeline as Pipeline
