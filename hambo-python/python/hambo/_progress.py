"""Progress as tqdm shows it."""

import contextlib

from . import _hambo


@contextlib.contextmanager
def told(progress):
    """What the module tells: a function as it is, and one that moves a bar of tqdm."""
    if progress is True:
        try:
            from tqdm.auto import tqdm as progress
        except ImportError as missing:
            raise _hambo.Error(f"progress: {missing}\nhelp: pip install tqdm, or give a function") from None
    if not hasattr(progress, "set_postfix_str"):
        yield progress
        return
    opened = isinstance(progress, type)
    bar = progress(total=1, leave=True) if opened else progress

    def tell(done, planned, message):
        bar.total, bar.n = planned, done
        bar.set_postfix_str(message, refresh=False)
        bar.refresh()

    try:
        yield tell
        bar.n = bar.total
        bar.refresh()
    finally:
        if opened:
            bar.close()
