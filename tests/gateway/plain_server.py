"""A small MCP server of the protocol 2025-11-25, which tests steer through a folder.

`tools.json` has its tools, read anew for each list; each call adds a line to `calls.txt`, and each
page of a list one to `lists.txt`. Some tools misbehave by their names.
"""

import json
import os
import signal
import socket
import sys
import time
from pathlib import Path

FOLDER = Path(sys.argv[1])


def write(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def answer(message, result):
    write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}))


def fail(message, code, text):
    error = {"code": code, "message": text}
    write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}))


def huge(message, arguments):
    answer(message, {"content": [{"type": "text", "text": "x" * (30 << 20)}]})


def deep(message, arguments):
    value = "[" * 10_000 + "]" * 10_000
    number = json.dumps(message["id"])
    write(f'{{"jsonrpc":"2.0","id":{number},"result":{{"structuredContent":{{"v":{value}}}}}}}')


def noise(message, arguments):
    for _ in range(int(arguments["text"])):
        os.write(2, b"x" * (1 << 20))
    answer(message, {"content": [{"type": "text", "text": "done"}]})


def half(message, arguments):
    os.write(1, b'{"half a letter": "\xe2\x82\n')
    answer(message, {"content": [{"type": "text", "text": "done"}]})


def odd_bytes(message, arguments):
    start = b'{"jsonrpc":"2.0","id":%s,' % json.dumps(message["id"]).encode()
    os.write(1, start + b'"result":{"content":[{"type":"text","text":"\xff\xfe"}]}}\n')


def digits(message, arguments):
    number = json.dumps(message["id"])
    result = f'{{"content":[],"structuredContent":{{"n":{"9" * 5000}}}}}'
    write(f'{{"jsonrpc":"2.0","id":{number},"result":{result}}}')


def reach(message, arguments):
    how, _, place = arguments["text"].partition(" ")
    try:
        if how == "connect":
            socket.create_connection(("127.0.0.1", int(place)), 5).close()
        else:
            Path(place).open("w" if how == "write" else "r").close()
        told = "reached"
    except OSError as error:
        told = type(error).__name__
    answer(message, {"content": [{"type": "text", "text": told}]})


def ask(message, arguments):
    schema = {
        "type": "object",
        "required": ["size"],
        "properties": {
            "size": {"type": "integer", "minimum": 1, "maximum": 5},
            "note": {"type": "string", "default": "none"},
        },
    }
    params = {"message": "How large?", "requestedSchema": schema}
    write(
        json.dumps({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params})
    )
    said = next(one for one in map(json.loads, sys.stdin) if one.get("id") == "q")
    text = json.dumps(said.get("result", said.get("error")))
    answer(message, {"content": [{"type": "text", "text": text}]})


def ask_twice(message, arguments):
    """Ask a second question before the first is answered, and return both answers."""
    schema = {"type": "object", "properties": {"size": {"type": "integer"}}}
    for number, text in enumerate(("How large?", "Delete all?")):
        params = {"message": text, "requestedSchema": schema}
        asked = {"jsonrpc": "2.0", "id": f"q{number}", "method": "elicitation/create"}
        write(json.dumps({**asked, "params": params}))
    said = dict(reply_of(json.loads(next(sys.stdin))) for _ in range(2))
    answer(message, {"content": [{"type": "text", "text": json.dumps(said)}]})


def reply_of(message):
    return message["id"], message.get("result", message.get("error"))


def report(message, arguments):
    meta = message["params"].get("_meta", {})
    params = {"progressToken": meta.get("progressToken"), "progress": 1, "total": 2}
    for text in ("half", 7):
        told = params | {"message": text}
        write(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": told}))
    answer(message, {"content": [{"type": "text", "text": json.dumps(meta)}]})


def announce(message, arguments):
    """Tell that the tools changed, and answer."""
    write(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
    answer(message, {"content": [{"type": "text", "text": "done"}]})


def kill(message, arguments):
    """Kill this process or its client before, after or while it acts and answers."""
    who, when = arguments["text"].split()[:2]
    if when == "before":
        end(who)
    with (FOLDER / "effects.txt").open("a", encoding="utf-8") as effects:
        effects.write(f"{arguments['text']}\n")
    if when == "after":
        end(who)
    if when == "half":
        os.write(1, b'{"jsonrpc": "2.0", "id": "call')
        end(who)
    answer(message, {"content": [{"type": "text", "text": "done"}]})
    end(who)


def end(who):
    if who == "client":
        os.kill(os.getppid(), signal.SIGKILL)
    os._exit(9)


SPECIAL = {
    "huge": huge, "deep": deep, "noise": noise, "half": half, "reach": reach, "ask": ask,
    "bytes": odd_bytes, "digits": digits,
    "ask_twice": ask_twice, "report": report, "kill": kill, "announce": announce,
}  # fmt: skip


def call(message):
    name, arguments = message["params"]["name"], message["params"].get("arguments", {})
    with (FOLDER / "calls.txt").open("a", encoding="utf-8") as calls:
        calls.write(f"{name} {json.dumps(arguments, sort_keys=True)}\n")
    answers = FOLDER / "answers.json"
    if name == "die":
        os._exit(7)
    if answers.exists() and name in (known := json.loads(answers.read_text(encoding="utf-8"))):
        write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **known[name]}))
        return
    if name in SPECIAL:
        SPECIAL[name](message, arguments)
    elif name == "fail":
        said = [{"type": "text", "text": f"no room; token {os.environ.get('TOKEN', '')}"}]
        answer(message, {"content": said, "isError": True})
    elif name == "refuse":
        fail(message, -32602, "bad number")
    elif name == "slow":
        token = message["params"].get("_meta", {}).get("progressToken")
        told = {"progressToken": token, "progress": 0}
        write(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": told}))
        time.sleep(arguments.get("seconds", 5))
        answer(message, {"content": [{"type": "text", "text": "done"}]})
    elif name == "environment":
        answer(message, {"content": [{"type": "text", "text": json.dumps(dict(os.environ))}]})
    elif name == "picture":
        png = "iVBORw0KGgo="
        answer(message, {"content": [{"type": "image", "data": png, "mimeType": "image/png"}]})
    elif name == "whoami":
        answer(message, {"content": [{"type": "text", "text": str(os.getpid())}]})
    else:
        text = {"type": "text", "text": json.dumps({"echo": arguments})}
        answer(message, {"content": [text], "structuredContent": {"echo": arguments}})


def page(message):
    with (FOLDER / "lists.txt").open("a", encoding="utf-8") as lists:
        lists.write("list\n")
    tools = json.loads((FOLDER / "tools.json").read_text(encoding="utf-8"))
    if isinstance(tools, list):
        return {"tools": tools}
    # Pages: an object of lists, by their number.
    number = (message.get("params") or {}).get("cursor", "0")
    following = str(int(number) + 1)
    found = {"tools": tools.get(number, [])}
    if following in tools or "endless" in tools:
        found["nextCursor"] = following
    return found


def main():
    write("A banner that is no message")
    with (FOLDER / "starts.txt").open("a", encoding="utf-8") as starts:
        starts.write(f"{os.getpid()}\n")
    if (FOLDER / "wait").exists():
        # It blocks until a test writes to this named pipe.
        (FOLDER / "wait").read_text(encoding="utf-8")
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if method == "initialize":
            answer(message, {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "plain", "version": "1"},
            })  # fmt: skip
        elif method == "tools/list":
            if (FOLDER / "kill at list").exists():
                end("client")
            if (FOLDER / "silent at list").exists():
                continue
            if (FOLDER / "fail at list").exists():
                fail(message, -32603, "no list today")
                continue
            if (FOLDER / "die at list").exists():
                (FOLDER / "die at list").unlink()
                os._exit(7)
            answer(message, page(message))
        elif method == "tools/call":
            call(message)
        elif method == "notifications/cancelled":
            (FOLDER / "cancelled.txt").write_text("cancelled", encoding="utf-8")
        elif "id" in message:
            fail(message, -32601, "unknown method")


main()
