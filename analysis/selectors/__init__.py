"""The only bridge from rows and files to arrays."""
