"""Analyses of pools and judgements: labels, agreement, measures, comparisons and stability."""
