"""Measurements of whether sampled and prioritised pools, LLM judges and unpooled runs reach their
targets."""
