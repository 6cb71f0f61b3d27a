"""From files to examples: readers and writers, checks, splits, fetching, and the planted corpus."""
