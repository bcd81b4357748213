"""Measures of runs under qrels, per topic."""
