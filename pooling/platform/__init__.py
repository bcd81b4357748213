"""What the pages, the API and the jobs of all apps stand on: jobs, stored files, lists, requests."""
