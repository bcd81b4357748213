"""A campaign's judgements and labels as columns: the only bridge from rows and files to arrays. No
door of its own; other wings ask here.

rows             the newest revisions of all judgements, as columns
live             the same, kept in the process and topped up (pairs: what does not change)
labels           labels under chosen rules, with the managers' own above them
system_rankings  the systems of the collection ranked under several labels
"""
