"""Makes `python -m tf1to2` run the command `tf1to2`."""

import sys

from tf1to2.cli import main

sys.exit(main())
