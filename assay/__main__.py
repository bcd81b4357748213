"""`python -m assay`."""

import sys

from assay.command import main

main(["assay", *sys.argv[1:]])
