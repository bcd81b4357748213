"""Arabic with Latin digits, as these pages write them (CLDR: ar, numbering system latn)."""

DECIMAL_SEPARATOR = "."
THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
