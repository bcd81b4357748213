"""Code shared by several analyses: options, and reading runs, qrels and judgements."""
