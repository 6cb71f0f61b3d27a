"""A run from config and data to a model folder: preparation, artifacts, warm start, resume."""
