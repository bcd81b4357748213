"""Django's SQLite backend, with a health check for kept connections."""
