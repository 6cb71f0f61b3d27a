"""Pure functions from numbers to numbers, checked against golden values."""
