"""Log a crash: who meets it gets a reference, and the log has the rest."""

import logging

logger = logging.getLogger("toolmd.crash")


def logged(error: BaseException, text: str, *values: object) -> str:
    """Log a crash and give the reference under which it stands there."""
    import secrets

    reference = secrets.token_hex(4)
    logger.error("%s: %s", reference, text % values, exc_info=error)
    return reference
