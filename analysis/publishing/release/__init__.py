"""Releases: one zip file with everything needed to verify, use and rebuild a campaign's labels.
Writing, reading and import."""
