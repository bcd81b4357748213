"""Pools of documents to judge: depth pools, prioritised pools, sampled pools, and topic checks."""
