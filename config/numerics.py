"""The parts of scipy that pages and jobs use. The modules that need them import scipy alone, which
brings its parts in on first use, so commands and web processes start quickly. The servers do that
waiting before anybody asks for figures: the worker as it starts, a web process when it answers
already."""

import threading

DELAY_SECONDS = 5.0


def import_numerics() -> None:
    import scipy.optimize
    import scipy.sparse.csgraph
    import scipy.special
    import scipy.stats  # noqa: F401


def import_numerics_in_background() -> None:
    """In a thread, once the process has begun to answer. A page that needs a part of scipy earlier
    imports it itself."""
    timer = threading.Timer(DELAY_SECONDS, import_numerics)
    timer.daemon = True
    timer.start()
