"""Agreement of annotators with each other, with the labels, and beyond chance.

kappa.py           Cohen's kappa, plain and weighted, from joint counts
raters.py          which grades are compared: labels, the others' labels, pairs of annotators, chance level
alpha.py           Krippendorff's alpha with its confidence interval
fleiss.py          Fleiss' kappa and percent agreement
gwet.py            Gwet's AC1
report.py          all statistics of a campaign, on the full scale and on two grades
interpretation.py  conventional interpretation labels of kappa
annotators.py      one annotator: kappa with an interval, and the effect of an exclusion
"""
