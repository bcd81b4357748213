"""A release: one zip file with everything that others need to trust, use and rebuild a campaign's
labels; written, read, imported."""
