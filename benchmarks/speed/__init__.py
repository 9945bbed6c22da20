"""Time and memory, beside other packages and by size."""
