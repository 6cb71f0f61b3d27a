"""A run from config and data to a model folder: preparation, artefacts, warm start, resume."""
