"""The rationalized transformer predictor."""

from rationalize.methods.rtp.rtp import RTP as RTP
