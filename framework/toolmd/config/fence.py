"""Read what a fenced process may reach, from a server's table."""

import re
from collections.abc import Mapping
from typing import Any

from toolmd.config.origin import Origin
from toolmd.config.services import check_variables

_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


def read_folders(value: Any, at: Origin) -> tuple[str, ...] | None:
    """Read the folders of a fence; None where the table has none."""
    if value is None:
        return None
    value = at.listed(value)
    if not isinstance(value, list) or not all(
        isinstance(one, str) and one.strip() and "\0" not in one for one in value
    ):
        raise at.error('folders must be texts: folders = ["data", "docs:read"]')
    return tuple(value)


def read_hosts(value: Any, at: Origin) -> tuple[str, ...] | None:
    """Read the hosts of a fence: no system fence knows names, so only none can be enforced."""
    if value is None:
        return None
    if at.listed(value) != []:
        raise at.error("hosts must be [], for no network: no other list can be enforced")
    return ()


def read_env(value: Any, at: Origin) -> Mapping[str, str]:
    """Read variables by name; a list of names passes them on as they are."""
    value = at.listed(value)
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        value = {name: f"${name}" for name in value}
    if not isinstance(value, dict):
        raise at.error('env must be names, or texts by name: {TOKEN = "$GITHUB_TOKEN"}')
    for name, text in value.items():
        if not _ENV_NAME.fullmatch(name):
            raise at.error("env: a key is not the name of a variable")
        if not isinstance(text, str) or "\0" in text:
            raise at.error(f"env: {name} must be a text")
        check_variables(text, at, f"env: {name}")
    return dict(value)
