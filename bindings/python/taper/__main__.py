"""`python -m taper`: the command line."""

import sys

from taper._commands import taper

sys.exit(taper())
