"""What exists and what is to be judged: collections, topics, documents, runs, qrels, pools."""
