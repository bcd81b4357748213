"""What the commands of this app share: their options, and where they read runs, qrels and
judgements.

    measures          commands that compute measures of runs under qrels
    first_ranks       commands after Lin et al.
    judged_files      commands over judgements
    campaign_files    commands that write files of a campaign
    campaign_sources  --campaign in the place of QRELS
    stored_campaigns  what a campaign gives in the place of files; imported once --campaign is met

Commands on files import neither Django nor a part of scipy before they need it
(tests/analysis/commands/test_light.py)."""
