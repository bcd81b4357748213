"""What managers and annotators come to do, done by a person's hands in a browser and counted: in
this version and, where it could be done there, in the first one. `python -m tests.tasks` does all
of them in both and takes a picture of where each ends; docs/evidence/usability.md has the table."""
