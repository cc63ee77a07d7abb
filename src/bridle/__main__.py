"""Run the command line with `python -m bridle`."""

import sys

from bridle.surfaces.cli import main

if __name__ == "__main__":
    sys.exit(main())
