"""Estimates from sampled pools, when to stop judging, and campaigns replayed."""
