"""Encoders, heads, samplers, maskings and losses: the pieces that methods choose from."""
