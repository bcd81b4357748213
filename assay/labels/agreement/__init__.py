"""How far annotators agree: with each other, with the labels, and beyond chance.

kappa.py      Cohen's kappa, plain and weighted, from joint counts
raters.py     whose grades are set against whose: labels, the others' labels, every pair of
annotators, the chance floor
alpha.py      Krippendorff's alpha with its bootstrap interval
fleiss.py     Fleiss' kappa and percent agreement
gwet.py       Gwet's AC1
report.py     all of it for a campaign, on the full scale and on two grades
bands.py      words for kappa, by convention
people.py     one annotator at a time: kappa with an interval, and what excluding somebody would
change
"""
