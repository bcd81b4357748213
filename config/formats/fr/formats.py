"""French."""

THOUSAND_SEPARATOR = "\u202f"
