"""The demo campaign: the documentation of the installed Python standard library, three systems
really run over it."""
