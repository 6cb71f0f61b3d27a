"""Rationales with HardKuma masks."""

from rationalize.methods.hardkuma.hardkuma import HardKumaRationales as HardKumaRationales
