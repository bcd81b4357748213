"""Measures of runs under qrels, per topic. `assay.measures.define` adds a measure."""

from assay.measures.measures import define as define
