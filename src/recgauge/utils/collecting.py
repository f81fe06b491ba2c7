"""When Python looks for objects that nobody needs but that refer to each other: not while a program starts.

Imports and settings make a hundred thousand objects, which stay. To look through them again and again, and
once more when the program ends, takes a fifth of the time of a short run.
"""

import atexit
import gc


def pause() -> None:
    """Do not look until `go_on`, nor when the program ends."""
    gc.disable()
    atexit.register(gc.freeze)


def go_on() -> None:
    """Look again if `pause` was called, at objects that are made from now on."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
