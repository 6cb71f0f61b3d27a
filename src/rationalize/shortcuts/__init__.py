"""Shortcuts: found by a model that falls for them, counted, and looked for in anyone's data."""
