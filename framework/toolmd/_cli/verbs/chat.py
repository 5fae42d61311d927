"""`chat`: talk with a model, run its calls, and ask a person for confirmations."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from json import dumps
from typing import Annotated, Any

import typer

from toolmd._cli.frame import (
    ContextOption,
    ExitCode,
    JsonOption,
    UserOption,
    complain,
    context_of,
)
from toolmd._cli.screen import (
    err,
    for_people,
    interactive,
    out,
    paint,
    printable,
    read_stdin,
    stdout,
)
from toolmd.errors import ModelError

UNREACHABLE = frozenset(("unreachable", "timeout", "unavailable", "not_found"))
_STOPS = {
    "rounds": "the model called tools too many times without an answer",
    "calls": "the model asked for more calls than one exchange may make",
    "malformed": "the model's calls could not be read, even after error messages",
    "length": "the answer reached the model's token limit",
    "content_filter": "the model's provider filtered the answer",
}

MessageArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="MESSAGE",
        help="Send this and exit; `-` reads it from stdin. Without it, send each line.",
        show_default=False,
    ),
]
ModelOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="The model; default: from the settings.")
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="An OpenAI-compatible API; default: the settings, then OpenRouter."
    ),
]
DialectOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="The model's call format: openai, or text: inline, action, plan, a plugin's.",
    ),
]
StreamOption = Annotated[
    bool | None,
    typer.Option("--stream/--no-stream", help="Show words as they arrive; default: on a terminal."),
]


def chat(
    workspace: Any,
    message: MessageArgument = None,
    *,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    dialect: DialectOption = "openai",
    system: Annotated[str, typer.Option(metavar="TEXT", help="The system prompt.")] = "",
    user: UserOption = None,
    context: ContextOption = None,
    stream: StreamOption = None,
    json: JsonOption = False,
) -> None:
    """Talk with a model that may call the project's tools.

    The key comes from OPENROUTER_API_KEY or OPENAI_API_KEY. The terminal asks you to confirm
    calls that need it. Ctrl-C stops an answer, Ctrl-D exits. Needs the extra `chat`:
    pip install 'toolmd[chat]'.

    Exit codes: 0 answered, 1 an incomplete answer or an error of the endpoint, 2 no model or key,
    4 a call waits for a person, 5 no endpoint answers.
    """
    options = {
        "model": model,
        "base_url": base_url,
        "dialect": dialect,
        "system": system,
        "user": user,
        "context": context_of(context),
        "stream": (stdout().isatty() if stream is None else stream) and not json,
    }
    if message == "-":
        message = read_stdin("the message").decode(errors="replace")
    raise typer.Exit(_Talk(workspace, options, json=json).run(message))


class _Talk:
    """A conversation at the terminal."""

    def __init__(self, workspace: Any, options: dict[str, Any], *, json: bool) -> None:
        import asyncio

        from toolmd._chat import Conversation

        self._workspace = workspace
        self._json = json
        self._streams = options["stream"]
        self._in_line = False
        self._queued: list[str] = []
        """What the user typed where a decision was asked for."""
        self._conversation = Conversation(
            workspace,
            **options,
            confirm=self._ask if interactive() else None,
            on_text=None if json else self._show,
            on_result=None if json else self._show_result,
        )
        self._runner = asyncio.Runner()

    def run(self, message: str | None) -> int:
        """Send the message, or each line: of a terminal until Ctrl-D, of a file until its end.

        Returns the exit code. On a terminal, an error or a Ctrl-C ends only the answer.
        """
        lasts = message is None and sys.stdin.isatty()
        code = int(ExitCode.DONE)
        with self._runner:
            try:
                lines = _lines() if message is None else iter([message])
                while (line := self._next(lines)) is not None:
                    try:
                        exchange = self._say(line)
                    except KeyboardInterrupt:
                        if not lasts:
                            raise
                        err("stopped; Ctrl-D exits")
                    except ModelError as error:
                        wrong = ExitCode.FINDINGS
                        if error.code in UNREACHABLE:
                            wrong = ExitCode.NOT_FOUND
                        complain(wrong, str(error))
                        if not lasts:
                            return wrong
                    else:
                        if self._json:
                            out(dumps(exchange.to_dict(), ensure_ascii=False))
                        last = int(_exit_code(exchange))
                        # A message's code is that of its last answer, a file's the worst one.
                        code = code if lasts else last if message is not None else max(code, last)
            except KeyboardInterrupt:
                err()
                return code if lasts else ExitCode.INTERRUPTED
            finally:
                self._runner.run(self._conversation.aclose())
                self._runner.run(self._workspace.aclose())
        return code

    def _next(self, lines: Iterator[str]) -> str | None:
        return self._queued.pop(0) if self._queued else next(lines, None)

    def _say(self, message: str) -> Any:
        try:
            exchange = self._runner.run(self._conversation.say(message))
        finally:
            self._end_line()
        _tell(exchange)
        return exchange

    def _show(self, words: str) -> None:
        """Write the model's words, without control characters on a terminal."""
        words = for_people(words)
        stdout().write(words)
        stdout().flush()
        self._in_line = not words.endswith("\n")
        if not self._streams:
            self._end_line()

    def _show_result(self, result: Any) -> None:
        """Write the outcome of a call to stderr as a line."""
        self._end_line()
        if result.outcome == "confirm":
            return
        code = f"[{result.error.code}]" if result.error else ""
        said = result.error.message if result.error else result.message
        well = result.success or result.outcome == "waiting"
        outcome = paint(result.outcome, "green" if well else "red", sys.stderr)
        what = printable(result.tool) or "the model's calls"  # they could not be read
        err(f"{outcome}{code} {what}{': ' if said else ''}{printable(said)}")

    def _end_line(self) -> None:
        if self._in_line:
            out()
            stdout().flush()
            self._in_line = False

    def _ask(self, pending: Any) -> Any:
        from toolmd._cli.prompts import ask_decision
        from toolmd._types.asked import fields_of

        self._end_line()
        bound = self._workspace.tools.get(pending.tool)
        parameters = () if bound is None else bound.spec.parameters
        if pending.form is not None:
            parameters = fields_of(pending.form)
        with _interruptible():
            decision = ask_decision(pending, parameters)
        if isinstance(decision, str):
            # What is no decision is the user's next message; the call waits.
            self._queued.append(decision)
            return None
        return decision


def _tell(exchange: Any) -> None:
    """Write to stderr what the answer does not show."""
    if exchange.crisis:
        words = "this conversation has a crisis flag: a person should read it"
        err(f"{paint('crisis', 'red', sys.stderr)}: {words}")
    for confirmation in exchange.pending:
        waits = "for review" if confirmation.kind == "review" else "for a confirmation"
        err(f"{paint('waits', 'cyan', sys.stderr)} {waits}: {printable(confirmation.prompt)}")
        err(f"help: toolmd confirm {confirmation.id}, or reject, or respond with a text")
    if exchange.stopped:
        err(f"{paint('stopped', 'yellow', sys.stderr)}: {_STOPS[exchange.stopped]}")


def _exit_code(exchange: Any) -> ExitCode:
    """Return the exit code of a command with this exchange."""
    if exchange.pending:
        return ExitCode.UNCONFIRMED
    return ExitCode.FINDINGS if exchange.stopped else ExitCode.DONE


def _lines() -> Iterator[str]:
    """Return the lines that a person types, or each non-empty line of a file."""
    if not sys.stdin.isatty():
        yield from filter(None, map(str.strip, sys.stdin))
        return
    with suppress(ImportError):
        import readline  # noqa: F401 - `input` edits lines with it
    err("Ctrl-C stops an answer, Ctrl-D exits.")
    while True:
        try:
            if stdout().isatty():
                with redirect_stdout(stdout()):  # on a terminal, lines can be edited
                    line = input("> ")
            else:
                sys.stderr.write("> ")
                sys.stderr.flush()
                line = sys.stdin.readline()
                if not line:
                    return
        except EOFError:
            out()
            return
        if line.strip():
            yield line.strip()


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C interrupt a wait for input; the event loop's own handler only records it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
