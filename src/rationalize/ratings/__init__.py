"""Ratings of rationales by people and by language models: prepare, rate, summarize."""
