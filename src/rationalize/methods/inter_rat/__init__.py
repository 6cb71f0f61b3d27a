"""Interventional rationalization."""

from rationalize.methods.inter_rat.inter_rat import InterRAT as InterRAT
