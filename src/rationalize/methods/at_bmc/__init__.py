"""Adversarial training with a boundary-match constraint."""

from rationalize.methods.at_bmc.at_bmc import ATBMC as ATBMC
