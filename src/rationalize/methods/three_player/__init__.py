"""Introspective extraction with complement control."""

from rationalize.methods.three_player.three_player import ThreePlayer as ThreePlayer
