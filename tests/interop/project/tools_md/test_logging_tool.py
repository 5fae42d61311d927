"""Write to a log, which is the operator's and not the client's."""

import logging


def test_logging_tool() -> str:
    logging.getLogger(__name__).info("a line of the log")
    return "Done."
