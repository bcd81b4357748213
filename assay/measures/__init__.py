"""Measures of runs under qrels, per topic. `assay.measures.define` adds one."""

from assay.measures.measures import define as define
