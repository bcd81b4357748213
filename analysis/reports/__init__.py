"""Reports: the commands over runs and qrels, run on what is stored, their answers kept and drawn.

    kinds     what can be asked: a command, its choices, and the arguments that they make
    running   the command on stored runs and qrels in place of files; its work in pieces
    tables    an answer as tables, and tables as CSV and LaTeX
    pictures  an answer as pictures of a page (analysis.figures: the same for print)

A report's result is the command's JSON object, because it is the command that computes it: from the arguments which the page
shows, through the command's own parser.
"""
