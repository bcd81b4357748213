"""Reports on systems: the commands over runs and qrels, run on what is stored, their answers kept
and drawn.

    kinds     what can be asked: one entry per analysis with what only the web has; written_files:
    small files that its analysis reads
    inputs    the stored runs, qrels and small files that a report reads
    reports   a report asked for, computed by a job, kept, deleted
    answers   which system leads in a campaign, computed by a job; answer_page, answer_pictures:
    what the page shows of it
    running   the command on stored runs and qrels in place of files; pieces: its work in parts that
    any worker may take
    tables, pictures, figures  what answers of several kinds have in common; tabular: a table as
    CSV, LaTeX, JSON

A report's result is the command's JSON object, because it is the command that computes it: from the
arguments which the page shows, through the command's own parser."""
