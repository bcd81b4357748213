"""Writing, reading and import of releases. A release is one zip file with everything needed to
verify, use and rebuild a campaign's labels."""
