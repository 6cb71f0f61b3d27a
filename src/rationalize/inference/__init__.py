"""Fast explanation of many texts, whole documents included."""
