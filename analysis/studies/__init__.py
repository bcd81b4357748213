"""Studies: the tables and figures of a paper from one question, in one folder.

    papers    what each study consists of, one paper a file: its inputs, and its parts as commands
    with their tables and figures
    study     what a study is made of; bench: what its parts work with (inputs, commands run once,
    warnings)
    settings  the TOML file that names the inputs; sources: a campaign, a collection or a release as
    such files; given: what a person adds
    making    a study made: parts one by one, those without inputs left out with the reason; folder:
    what is written
    report    the whole as HTML and as Markdown; running: from the file to the folder
    keeping   studies of what is stored, made by a job and kept as a zip; selectors, forms, views,
    api: their doors

Nothing is computed here: every number is a command's, through `analysis.systems.running`, and
tables and pictures that a kind of report has are taken from it. Pictures are those of
`assay.charts`, rendered for print by `assay.charts.print_files`."""
