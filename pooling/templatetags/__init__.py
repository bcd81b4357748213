"""Template tags and filters of the pooling pages."""
