"""Faults caused while people judge. After each fault, everything that must not have suffered is
checked (`make soak`)."""
