"""Entry point of `python -m assay`."""

import sys

from assay.cli.main import main

main(["assay", *sys.argv[1:]])
