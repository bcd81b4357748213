"""Studies: the tables and figures of a paper, reproduced on other data in one folder.

    papers          the studies, one module per paper: inputs and parts, with their tables and figures
    study           classes of a study and its parts
    study_context   what the parts use: inputs, commands (each run once) and warnings
    settings        the TOML file that names the inputs
    sources         a campaign, collection or release as such files
    inputs          what the user adds to stored data
    study_creation  making the parts. Parts without inputs are left out with the reason
    folder          the written files
    report          the study as HTML and Markdown
    runner          from the TOML file to the folder
    stored_studies  studies of stored data, made by a job and kept as a zip file
    selectors, forms, views, api   access to stored studies

All numbers come from commands, through `analysis.systems.running`. Tables and charts that a kind of
report has are taken from it. Charts are made by `assay.charts` and rendered for print by
`assay.charts.print_files`.
"""
