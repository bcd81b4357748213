"""Statistics of a campaign: progress, forecast, and annotators to check."""
