"""Monitoring of a running campaign: progress, times, annotators and their agreement, labels and
gold questions."""
