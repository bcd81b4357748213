"""A campaign's judgements and labels as columns, the only conversion from rows and files to arrays.
It has no pages, API or commands.

    rows             the newest revisions of all judgements, as columns
    live             the same, cached in the process and updated (pairs: the unchanging part)
    labels           labels by the chosen rules, overridden by adjudicated labels
    system_rankings  rankings of the collection's systems under several sets of labels
"""
