#!/usr/bin/env python
"""The command line of a checkout; where Assay is installed the same is called `assay`."""

from assay.cli.main import main

if __name__ == "__main__":
    main()
