"""Benchmarks that compare Assay with other tools in the same run (`make bench`)."""
