"""The analyses: one module each, with its command."""
