"""Spanish."""

THOUSAND_SEPARATOR = "."
