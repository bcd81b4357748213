"""Statistics of a campaign: pace, forecast, annotators to look at."""
