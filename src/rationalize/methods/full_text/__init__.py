"""The plain classifier, with rationales found after the fact."""

from rationalize.methods.full_text.full_text import FullText as FullText
