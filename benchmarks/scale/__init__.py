"""What grows with the number of texts, at sizes beyond memory: `make bench-scale`."""
