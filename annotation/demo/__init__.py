"""The demo campaign: documentation of the installed Python standard library, with runs of three
retrieval systems."""
