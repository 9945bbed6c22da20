"""Real data sets and tables."""
