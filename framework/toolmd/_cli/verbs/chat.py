"""`chat`: talk with a model, run its calls, and ask a person for confirmations."""

import sys
from json import dumps
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from toolmd._cli.files import replace_file
from toolmd._cli.frame import (
    ContextOption,
    ExitCode,
    JsonOption,
    ProjectOption,
    UserOption,
    complain,
    context_of,
    open_workspace,
    stop,
)
from toolmd._cli.reports.exchanges import LIMITS, exit_code, tell
from toolmd._cli.screen import err, interactive, out, out_json, paint, printable, read_stdin, stdout
from toolmd._cli.terminal.lines import interruptible, lines
from toolmd._types.asked import fields_of
from toolmd.errors import ModelError

UNREACHABLE = frozenset(("unreachable", "timeout", "unavailable", "not_found"))

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
RecordOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Write the conversation here, for `toolmd test --transcript`."
    ),
]
SchemaOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Answers are JSON that follows this JSON Schema."),
]


def chat(
    message: MessageArgument = None,
    *,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    dialect: DialectOption = "openai",
    system: Annotated[str, typer.Option(metavar="TEXT", help="The system prompt.")] = "",
    user: UserOption = None,
    context: ContextOption = None,
    stream: StreamOption = None,
    record: RecordOption = None,
    schema: SchemaOption = None,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Talk with a model that may call the project's tools.

    The key comes from OPENROUTER_API_KEY or OPENAI_API_KEY. The terminal asks you to confirm
    calls that need it. Ctrl-C stops an answer, Ctrl-D exits. Needs the extra `chat`:
    pip install 'toolmd[chat]'.

    Exit codes: 0 answered, 1 an incomplete answer or an error of the endpoint, 2 no model or key,
    3 a limit is reached, 4 a call waits for a person, 5 no endpoint answers.
    """
    with open_workspace(project) as workspace:
        options = {
            "model": model,
            "base_url": base_url,
            "dialect": dialect,
            "schema": None if schema is None else _schema(schema),
            "system": system,
            "user": user,
            "context": context_of(context),
            "stream": (stdout().isatty() if stream is None else stream) and not (json or schema),
        }
        code = _Talk(workspace, options, record, json=json).run(message)
    raise typer.Exit(code)


class _Talk:
    """A conversation at the terminal."""

    def __init__(
        self, workspace: Any, options: dict[str, Any], record: Path | None, *, json: bool
    ) -> None:
        import asyncio

        from toolmd._chat import Conversation

        self._workspace = workspace
        self._json = json
        self._streams = options["stream"]
        self._structured = options["schema"] is not None
        self._in_line = False
        self._queued: list[str] = []
        """What the user typed where a decision was asked for."""
        self._conversation = Conversation(
            workspace,
            **options,
            confirm=self._ask if interactive() else None,
            on_text=None if json or self._structured else self._show,
            on_result=None if json else self._show_result,
        )
        self._record = record
        if record is not None and record.exists():
            stop(ExitCode.USAGE, f"{record} exists", "name a new file with --record")
        self._write()
        self._runner = asyncio.Runner()

    def run(self, message: str | None) -> int:
        """Send the message or each line; return the exit code."""
        with self._runner:
            try:
                if message is not None:
                    if message == "-":
                        message = read_stdin("the message").decode(errors="replace")
                    return self._once(message)
                return self._each(lasting=sys.stdin.isatty())
            finally:
                self._runner.run(self._conversation.aclose())
                self._runner.run(self._workspace.aclose())

    def _once(self, message: str) -> int:
        try:
            exchange = self._say(message)
            while self._queued:
                exchange = self._say(self._queued.pop(0))
        except KeyboardInterrupt:
            err("stopped")
            return ExitCode.INTERRUPTED
        except ModelError as error:
            _fail(error)
        if self._json:
            out_json(exchange.to_dict())
        return exit_code(exchange)

    def _each(self, *, lasting: bool) -> int:
        """Send each line: of a terminal until Ctrl-D, of a file until its end or an error."""
        code = int(ExitCode.DONE)
        try:
            typed = lines()
            while (line := self._queued.pop(0) if self._queued else next(typed, None)) is not None:
                try:
                    exchange = self._say(line)
                except KeyboardInterrupt:
                    if not lasting:
                        raise
                    err("stopped; Ctrl-D exits")
                except ModelError as error:
                    if not lasting:
                        _fail(error)
                    complain(_code(error), str(error))
                else:
                    if self._json:
                        out(dumps(exchange.to_dict(), ensure_ascii=False))
                    if exchange.stopped in LIMITS:
                        return ExitCode.DENIED
                    code = code if lasting else max(code, exit_code(exchange))
        except KeyboardInterrupt:
            err()
            return code if lasting else ExitCode.INTERRUPTED
        return code

    def _say(self, message: str) -> Any:
        try:
            exchange = self._runner.run(self._conversation.say(message))
        finally:
            self._end_line()
            self._write()
        if self._structured and not self._json and not exchange.stopped:
            out_json(exchange.value)
        chat = self._workspace.settings.chat
        limited = chat.max_tokens is not None or chat.max_cost is not None
        tell(exchange, limited=limited)
        return exchange

    def _write(self) -> None:
        """Write the transcript as far as the conversation has come."""
        if self._record is not None:
            replace_file(self._record, self._conversation.transcript.text())

    def _show(self, words: str) -> None:
        """Write the model's words, without control characters on a terminal."""
        if stdout().isatty():
            words = "\n".join(map(printable, words.split("\n")))
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
        from toolmd._cli.terminal.prompts import ask_decision

        self._end_line()
        bound = self._workspace.tools.get(pending.tool)
        parameters = () if bound is None else bound.spec.parameters
        if pending.form is not None:
            parameters = fields_of(pending.form)
        with interruptible():
            decision = ask_decision(pending, parameters)
        if isinstance(decision, str):
            # What is no decision is the user's next message; the call waits.
            self._queued.append(decision)
            return None
        return decision


def _schema(file: Path) -> Any:
    from toolmd._validation.strict_json import read_json

    try:
        schema = read_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        stop(ExitCode.USAGE, f"{file} can't be read: {error}", "name a file with a JSON Schema")
    if not isinstance(schema, dict):
        stop(ExitCode.USAGE, f"{file} has no JSON object", "name a file with a JSON Schema")
    return schema


def _fail(error: ModelError) -> NoReturn:
    stop(_code(error), str(error))


def _code(error: ModelError) -> ExitCode:
    return ExitCode.NOT_FOUND if error.code in UNREACHABLE else ExitCode.FINDINGS
