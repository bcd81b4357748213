"""The analyses, one per module, each with its command."""
