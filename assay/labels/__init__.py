"""From judgements to labels: aggregation, inter-annotator agreement, label noise."""
