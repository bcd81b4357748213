"""The parts of the TripJudge study: campaign (Table 1, Figures 1 and 2, time), systems (Tables 2
and 3), clicks (Figure 3), groups, survey.

inputs   keys, and the files that the parts read: judgements or labels, clicks or a click log
"""
