"""How often intervals and signs do what they say, by simulation: `make calibration` writes
docs/evidence/calibration.md."""
