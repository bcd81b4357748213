"""Number formats for Arabic with Latin digits (CLDR: ar, numbering system latn)."""

DECIMAL_SEPARATOR = "."
THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
