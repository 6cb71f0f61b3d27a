"""Sub-word, word and character: how they map onto each other, and windows over long documents."""
