"""Template filters of the pooling pages."""
