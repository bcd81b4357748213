"""Comparisons of systems: which is better, with what certainty, and how stable the result is."""
