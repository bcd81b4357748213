"""Simulations of the coverage of intervals and the error rates of tests and flags. `make
calibration` writes docs/evidence/calibration.md."""
