"""One thin file per verb; heavy imports stay inside the commands."""
