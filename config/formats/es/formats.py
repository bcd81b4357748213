"""Number formats for Spanish."""

THOUSAND_SEPARATOR = "."
