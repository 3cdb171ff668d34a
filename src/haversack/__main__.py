"""`python -m haversack`."""

import sys

from haversack.cli import main

sys.exit(main())
