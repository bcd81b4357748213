"""Campaigns, annotators, assignment of pairs, and judgements."""
