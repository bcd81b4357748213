"""What a manager watches while a campaign runs: progress, time, annotators and their agreement,
labels, gold pairs."""
