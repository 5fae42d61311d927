"""Run the command line: `python -m toolmd`."""

import sys

from toolmd._cli.main import main

if __name__ == "__main__":
    sys.exit(main())
