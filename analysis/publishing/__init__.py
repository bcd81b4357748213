"""Export and import of campaigns: single files (exports), recipes, and releases built from recipes."""
