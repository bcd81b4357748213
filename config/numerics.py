"""The parts of scipy that pages and jobs use. The modules that need them import scipy alone, which brings its parts in on first use:
commands on files start quickly, and here the servers do that waiting before anybody asks."""


def import_numerics() -> None:
    import scipy.optimize
    import scipy.sparse.csgraph
    import scipy.special
    import scipy.stats  # noqa: F401
