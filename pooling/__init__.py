"""Collections, topics, documents, runs, qrels and pools: what exists and what is to be judged."""
