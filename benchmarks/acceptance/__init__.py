"""Acceptance measurements: targets for sampled and prioritised pools, LLM judges and unpooled runs."""
