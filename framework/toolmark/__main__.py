"""Run the command line: `python -m toolmark`."""

import sys

from toolmark._cli.main import main

if __name__ == "__main__":
    sys.exit(main())
