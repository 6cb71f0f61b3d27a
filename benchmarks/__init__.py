"""Measurements of the project: speed, side by side."""
