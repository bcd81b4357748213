"""Who judged what, when and how: campaigns, annotators, leases, judgements."""
