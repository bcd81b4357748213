"""The parts of the TripJudge study: campaign (Table 1, Figures 1 and 2, times), systems (Tables 2
and 3), clicks (Figure 3), groups and survey.

    inputs   keys, and the files that the parts read: judgements or labels, clicks or a click log
"""
