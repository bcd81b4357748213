"""Shared infrastructure of pages, API and jobs: jobs, stored files, lists, requests."""
