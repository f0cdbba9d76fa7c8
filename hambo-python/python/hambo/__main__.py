"""`python -m hambo`."""

import sys

from . import main

sys.exit(main(["hambo", *sys.argv[1:]]))
