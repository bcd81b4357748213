"""Estimates from sampled pools, stopping rules, and replayed campaigns."""
