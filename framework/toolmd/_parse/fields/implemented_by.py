"""Read what runs a tool: a function, an operation of a web service, or an MCP server's tool."""

from keyword import iskeyword

from toolmd._parse.fields.entries import Entry, Unread
from toolmd._parse.source.page import Page
from toolmd._parse.words.keys import plain
from toolmd._types.field import Row
from toolmd._types.operation import METHODS, read_operation
from toolmd._types.remote_tool import read_remote_tool

_EXAMPLE = "write `module:function`, such as `clinic:book`"
_OPERATION = "write `http METHOD PATH`, such as `http GET /pets/{id}` or `http GET shop:/pets/{id}`"
_REMOTE = "write `mcp SERVER TOOL`, such as `mcp github create_issue`"
_LONGEST = 256
"""In letters; a place of this length is no slip of the pen."""


def read_function(page: Page, known: Row, entry: Entry) -> str:
    """Return `module:function`, `http METHOD PATH` or `mcp SERVER TOOL`, or raise Unread.

    A kebab module is written as snake, since its file may have either name.
    """
    del page, known
    text = entry.text
    text = text.strip("`").strip() if text.startswith("`") else plain(text)
    words = text.split()
    if entry.blocks or not words:
        raise Unread(_EXAMPLE)
    if words[0].lower() == "mcp" and len(words) > 1:
        if len(text) > _LONGEST or (remote := read_remote_tool(text)) is None:
            raise Unread(f"{_REMOTE}; SERVER is the name of a table [servers.SERVER]")
        return str(remote)
    if words[0].lower() == "http" and len(words) > 1:
        if len(text) > _LONGEST or (operation := read_operation(text)) is None:
            methods = ", ".join(METHODS)
            raise Unread(f"{_OPERATION}; METHOD is one of {methods}, PATH has no `?`, `#` or `..`")
        return str(operation)
    module, colon, function = text.partition(":")
    if not colon or len(text) > _LONGEST:
        raise Unread(_EXAMPLE)
    module = module.replace("-", "_")
    if "/" in module or "\\" in module or module.startswith("."):
        raise Unread(
            f"name a module of the same folder, or an installed one, not a path: {_EXAMPLE}"
        )
    if module.endswith(".py"):
        raise Unread(f"write the module without `.py`: `{module.removesuffix('.py')}:{function}`")
    if not all(map(_is_name, (*module.split("."), function))):
        raise Unread(_EXAMPLE)
    return f"{module}:{function}"


def _is_name(word: str) -> bool:
    return word.isidentifier() and not iskeyword(word)
