"""Django's SQLite with connections that outlive a request."""
