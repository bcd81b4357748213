"""Collections with topics, documents, runs and qrels, and pools of pairs to judge."""
