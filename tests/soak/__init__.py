"""Faults while people judge: each is made, ends, and is followed by a look at everything that must
not have suffered (`make soak`)."""
