"""More annotated examples from few: the shortcut words are replaced, the gold rationale stays."""
