"""Reads pools and judgements and computes: labels, agreement, measures, comparisons, stability."""
