"""The one training loop: phases, turns, optimizers, checkpoints."""
