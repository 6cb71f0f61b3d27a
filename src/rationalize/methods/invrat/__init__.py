"""Invariant rationalization."""

from rationalize.methods.invrat.invrat import InvRAT as InvRAT
