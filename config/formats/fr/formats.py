"""Number formats for French."""

THOUSAND_SEPARATOR = "\u202f"
