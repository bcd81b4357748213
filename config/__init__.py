"""Settings, addresses and the Celery application."""
