"""Reports on systems: analyses of stored runs and qrels, with stored results and charts.

    kinds           the available reports, one entry per analysis with its web-specific settings
    written_files   small files that an analysis reads in addition to runs and qrels
    inputs          the stored runs, qrels and small files that a report reads
    reports         creating, computing, keeping and deleting a report
    answers         the leading system of a campaign, computed by a job
    answer_page, answer_pictures   how the page shows it
    running         a command on stored runs and qrels instead of files
    pieces          parts of a computation that any worker can take
    figures         charts as files for print

A report's result is the command's JSON object. It is computed by the command from the arguments on
the page, which its own parser reads.
"""
