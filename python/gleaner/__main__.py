"""The command line: ``python -m gleaner``, or ``gleaner``."""

import sys

from . import _gleaner


def main() -> int:
    """Runs the command-line interface. Returns the exit code."""
    return _gleaner.main(["gleaner", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
