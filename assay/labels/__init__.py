"""From judgements to labels: aggregation, agreement between raters, noise of labels."""
