"""Early import of the parts of scipy that pages and jobs use.

Modules import only the package scipy, which loads its parts on first use, so that commands and web
processes start quickly. The worker loads the parts when it starts, and a web process after it has
begun to answer.
"""

import threading

DELAY_SECONDS = 5.0


def import_numerics() -> None:
    import scipy.optimize
    import scipy.sparse.csgraph
    import scipy.special
    import scipy.stats  # noqa: F401


def import_numerics_in_background() -> None:
    """Import the parts of scipy in a thread once the process answers requests. A page that needs a
    part earlier imports it itself."""
    timer = threading.Timer(DELAY_SECONDS, import_numerics)
    timer.daemon = True
    timer.start()
