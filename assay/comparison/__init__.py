"""Which system is better, how surely, and how stable that is."""
