"""What several analyses share: their options, and how they read runs, qrels and judgements."""
