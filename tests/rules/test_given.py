"""Given: conditions over what a Read Only tool answers, read as the same caller."""

import datetime as dt
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.definitions import Folder, tool

from toolmd import Workspace, parse_tool
from toolmd._load.weakening import keep_stricter, list_weakened
from toolmd._parse import tool_text
from toolmd._workspace.examples import try_examples
from toolmd.config import load_settings

ID = "### order_id\n\n- **Type**: string\n- **Required**: true\n\n"
AMOUNT = "### amount\n\n- **Type**: number\n- **Required**: true\n- **Minimum**: 0\n\n"
RULES = """## Rules

- **Given**: order from get_order
  - order_id: `order_id`
- `order.customer == caller.customer || 'support' in caller.roles`: Only your own orders.
- `order.status == 'pending'`: The order is {order.status}, {not code}.
"""
RETURNS = """- **To Model**: status, customer
- **Properties**:
  - **customer**:
    - **Type**: string
  - **status**:
    - **Type**: string
  - **note**:
    - **Type**: string
  - **card**:
    - **Type**: string
    - **Sensitive**: yes
"""
SETTINGS = 'time_zone = "Europe/Berlin"\n[identity.facts]\ncustomer = "string"\n'
PYTHON = """
import json
from pathlib import Path
from toolmd import ToolError

def get_order(order_id):
    here = Path(__file__).parent
    with (here / "reads.txt").open("a") as file:
        file.write(f"{order_id}\\n")
    orders = json.loads((here / "orders.json").read_text())
    if order_id not in orders:
        raise ToolError("There is no such order.", code="no_order")
    return orders[order_id]
"""
REFUND = """
from pathlib import Path

def refund(order_id, amount):
    with (Path(__file__).parent / "done.txt").open("a") as file:
        file.write(f"{order_id}\\n")
    return {"paid": amount}
"""
Open = Callable[..., Workspace]


def lookup(metadata: str = "- **Read Only**: yes\n", extra: str = "") -> str:
    text = tool("get_order", ID, RETURNS + extra)
    return text.replace("\n## Parameters", f"{metadata}\n## Parameters")


def order(tmp_path: Path, **fields: Any) -> None:
    said = {"customer": "c1", "status": "pending", **fields}
    (tmp_path / "tools_md/orders.json").write_text(json.dumps({"o1": said}))


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Open]:
    opened: list[Workspace] = []
    folder = Folder(tmp_path)
    folder.write("tools_md/get_order.py", PYTHON)
    folder.write("tools_md/refund.py", REFUND)
    folder.write("toolmd.toml", SETTINGS)
    order(tmp_path)

    def open_shop(rules: str = RULES, extra: str = "", read: str | None = None) -> Workspace:
        folder.write("tools_md/refund.tool.md", tool("refund", ID + AMOUNT, extra + rules))
        folder.write("tools_md/get_order.tool.md", lookup() if read is None else read)
        opened.append(Workspace(load_settings(tmp_path, overrides={"trust_edits": True})))
        return opened[-1]

    yield open_shop
    for one in opened:
        one.close()


def ask(workspace: Workspace, order_id: str = "o1", amount: float = 5, **more: Any) -> Any:
    caller = {"user": "ana", "context": {"customer": "c1"}, **more}
    return workspace.call_sync("refund", {"order_id": order_id, "amount": amount}, **caller)


def code(result: Any) -> str:
    return result.outcome if result.error is None else result.error.code


def lines(tmp_path: Path, name: str) -> list[str]:
    file = tmp_path / "tools_md" / name
    return file.read_text().splitlines() if file.exists() else []


def test_a_rule_reads_the_order_once_for_each_call(shop, tmp_path) -> None:
    workspace = shop()
    assert not workspace.diagnostics
    assert code(ask(workspace)) == "ok"
    assert lines(tmp_path, "reads.txt") == ["o1"]
    assert code(ask(workspace, context={"customer": "c2"})) == "not_allowed"
    assert code(ask(workspace, context={})) == "not_allowed"
    assert code(ask(workspace, context={}, roles=["support"])) == "ok"
    assert lines(tmp_path, "done.txt") == ["o1", "o1"]
    assert len(lines(tmp_path, "reads.txt")) == 4


def test_a_message_shows_a_field_of_the_order_and_keeps_other_braces(shop, tmp_path) -> None:
    order(tmp_path, status="sent")
    result = ask(shop())
    assert code(result) == "not_allowed"
    assert result.error.message == "The order is sent, {not code}."


def test_a_sensitive_argument_stays_hidden_in_the_record_of_the_lookup(shop, tmp_path) -> None:
    workspace, file = shop(), tmp_path / "tools_md/refund.tool.md"
    file.write_text(
        file.read_text().replace(
            "- **Type**: string", "- **Type**: string\n- **Sensitive**: yes", 1
        )
    )
    workspace.reload()
    ask(workspace, "o-secret")

    records = "".join(one.read_text() for one in (tmp_path / ".toolmd/audit").glob("*.jsonl"))
    assert "get_order" in records
    assert "o-secret" not in records


def test_what_cannot_be_read_denies(shop, tmp_path) -> None:
    workspace = shop()
    missing = ask(workspace, "o2")
    assert code(missing) == "rule_unavailable"
    assert missing.error.message == "The order could not be read, so the rule can't be checked."
    assert missing.error.details[0].code == "no_order"
    (tmp_path / "tools_md/orders.json").write_text("broken")
    assert code(ask(workspace)) == "rule_unavailable"
    order(tmp_path, status=None)
    assert code(ask(workspace)) == "not_allowed"
    assert lines(tmp_path, "done.txt") == []


def test_a_lookup_has_its_own_rules_for_the_same_caller(shop, tmp_path) -> None:
    closed = lookup(extra="\n## Rules\n\n- `caller.customer == 'c1'`: Only c1.\n")
    workspace = shop(read=closed)
    assert code(ask(workspace)) == "ok"
    result = ask(workspace, context={"customer": "c2"}, roles=["support"])
    assert (code(result), result.error.details[0].code) == ("rule_unavailable", "not_allowed")


def test_a_rule_reads_the_whole_list_whatever_a_model_would_see_of_it(shop, tmp_path) -> None:
    returns = "## Returns\n\n- **Type**: array\n\n## Limits\n\n- **Max Rows**: 1\n"
    text = lookup()
    workspace = shop("## Rules\n\n- **Given**: rows from get_order\n  - order_id: `order_id`\n"
                     "- `rows.all(r, r > 0)`: All must be positive.\n",
                     read=text[: text.index("## Returns")] + returns)  # fmt: skip
    file = tmp_path / "tools_md/orders.json"
    file.write_text(json.dumps({"o1": [1]}))
    assert code(ask(workspace)) == "ok"
    file.write_text(json.dumps({"o1": [1, -1]}))
    assert code(ask(workspace)) == "not_allowed"


def test_the_callers_own_rules_go_first_and_a_dry_run_checks_the_order(shop, tmp_path) -> None:
    workspace = shop(RULES + "- `caller.user != 'eve'`: Not eve.\n- `amount < 9`: Too much.\n")
    assert code(ask(workspace, user="eve")) == "not_allowed"
    assert code(ask(workspace, amount=9)) == "invalid_arguments"
    assert lines(tmp_path, "reads.txt") == []
    assert code(ask(workspace, dry_run=True)) == "allowed"
    order(tmp_path, status="sent")
    assert code(ask(workspace, dry_run=True)) == "not_allowed"
    assert lines(tmp_path, "done.txt") == []


APPROVAL = """
## Approval

- **When**: `order.total > 100`
- **By**: manager
- **Text**: Refund {amount} to {order.customer}?
"""
TOTAL = "  - **total**:\n    - **Type**: number\n"


def test_an_approval_reads_the_order_and_its_start_reads_it_again(shop, tmp_path) -> None:
    order(tmp_path, total=98765)
    workspace = shop(extra=RULES, rules=APPROVAL, read=lookup(extra=TOTAL))
    assert not workspace.diagnostics
    one = ask(workspace).confirmation
    assert one.prompt.startswith("Refund 5 to c1?")
    store = (tmp_path / ".toolmd").rglob("*")
    assert not any(b"98765" in file.read_bytes() for file in store if file.is_file())
    order(tmp_path, total=98765, status="sent")
    approve = workspace.confirmations.approve_sync
    assert code(approve(one.id, user="eve", roles=["manager"])) == "not_allowed"
    assert lines(tmp_path, "done.txt") == []
    order(tmp_path, total=98765)
    assert code(approve(one.id, user="eve", roles=["manager"])) == "ok"
    order(tmp_path, total=50)
    assert code(ask(workspace)) == "ok"
    assert lines(tmp_path, "done.txt") == ["o1", "o1"]


def test_a_quota_counts_for_the_customer_of_the_order(shop, tmp_path) -> None:
    limits = "\n## Limits\n\n- **Quota**: 10 of `amount` per `order.customer` per month\n"
    workspace = shop(extra=RULES, rules=limits)
    assert not workspace.diagnostics
    assert code(ask(workspace, amount=10)) == "ok"
    staff = {"context": {}, "roles": ["support"], "user": "ben"}
    assert code(ask(workspace, amount=1, **staff)) == "quota_exceeded"
    order(tmp_path, customer="c2")
    assert code(ask(workspace, amount=1, **staff)) == "ok"


def test_all_lookups_run_at_once_and_within_the_timeout(shop, tmp_path) -> None:
    slow = "import time\n" + PYTHON.replace("    here", "    time.sleep(0.5)\n    here", 1)
    (tmp_path / "tools_md/get_order.py").write_text(slow)
    rules = "".join(f"- **Given**: {n} from get_order\n  - order_id: `order_id`\n" for n in "abc")
    rules += "- `a == b && b == c`: They differ.\n"
    workspace = shop("## Rules\n\n" + rules)
    assert code(ask(workspace)) == "ok"  # It imports the Python.
    began = dt.datetime.now(dt.UTC)
    assert code(ask(workspace)) == "ok"
    assert (dt.datetime.now(dt.UTC) - began).total_seconds() < 1.4
    late = shop("\n## Limits\n\n- **Timeout**: 100ms\n", extra="## Rules\n\n" + rules)
    assert code(ask(late)) == "rule_unavailable"


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        (RULES.replace("from get_order", "from get_ordr"), "unknown-tool did you mean"),
        (RULES.replace("from get_order", "from zzz"), "unknown-tool name a Read Only tool"),
        (RULES.replace("from get_order", "from refund"), "invalid-given it is not Read Only"),
        (RULES.replace("  - order_id: `order_id`\n", ""), "missing-argument below **Given**"),
        (RULES.replace("- order_id:", "- ordr_id:"), "unknown-argument did you mean 'order_id'"),
        (RULES.replace("`order_id`", "`amount`"), "argument-mismatch number where string"),
        (RULES.replace("`order_id`", "order_id"), "unreadable-value for the value of a name"),
        (RULES.replace("`order_id`", "`order`"), "invalid-expression unknown name 'order'"),
        (RULES.replace("order.customer", "order.custmer"), "invalid-expression 'customer'"),
        (RULES.replace("order from", "amount from") + "- `amount.x`: No.\n", "ambiguous-name name"),
        (RULES.replace("order from", "caller from"), "ambiguous-name another name"),
        (RULES.replace("order from get_order", "the order"), "unreadable-value order from"),
        (RULES.replace("**Given**", "**Givn**"), "unreadable-rule did you mean 'Given'"),
        (RULES.replace("{order.status}", "{order.note}"), "invalid-expression To Model"),
        (RULES.replace("{order.status}", "{order.card}"), "invalid-expression To Model"),
        (RULES.replace("order.status == 'pending'", "order.status"), "invalid-expression boolean"),
        (RULES + APPROVAL, "invalid-expression total"),
    ],
)
def test_a_given_that_cannot_be_read_is_found_at_load(shop, rules: str, found: str) -> None:
    workspace = shop(rules)
    code_, _, words = found.partition(" ")
    one = next(d for d in workspace.diagnostics if d.code == code_)
    assert words in f"{one.message} {one.help}"
    assert one.help
    assert "refund" not in workspace.tools
    if ".custmer" in rules:
        line = (workspace.settings.root / "tools_md/refund.tool.md").read_text().splitlines()
        assert "order.custmer" in line[one.span.line - 1]


@pytest.mark.parametrize(
    ("read", "why"),
    [
        (lookup(""), "not Read Only"),
        (lookup(extra="\n## Safety\n\n- **Requires Confirmation**: yes\n"), "a person"),
        (lookup(extra="\n## Approval\n\n- **When**: always\n- **By**: manager\n"), "a person"),
        (lookup(extra="\n## Safety\n\n- **Sensitivity**: critical\n"), "a person"),
        (lookup(extra="\n## Rules\n\n- **Given**: me from get_order\n  - order_id: `order_id`\n"),
         "has a Given itself"),
    ],
)  # fmt: skip
def test_a_lookup_changes_nothing_and_asks_nobody(shop, read: str, why: str) -> None:
    workspace = shop(read=read)
    assert why in " ".join(
        one.message for one in workspace.diagnostics if one.code == "invalid-given"
    )
    assert "refund" not in workspace.tools


def test_a_change_of_the_lookup_is_found_by_a_reload(shop, tmp_path) -> None:
    workspace = shop()
    assert "refund" in workspace.tools
    (tmp_path / "tools_md/get_order.tool.md").write_text(lookup(""))
    workspace.reload()
    assert "refund" not in workspace.tools
    (tmp_path / "tools_md/get_order.tool.md").write_text(lookup())
    workspace.reload()
    assert code(ask(workspace)) == "ok"


def spec(rules: str = RULES) -> Any:
    read, found = parse_tool(tool("refund", ID + AMOUNT, rules), "refund.tool.md")
    assert read is not None, found
    return read


def test_the_canonical_text_gives_the_same_spec() -> None:
    one = spec()
    said = one.canonical["given"]
    assert said == [{"name": "order", "tool": "get_order", "arguments": {"order_id": "order_id"}}]
    again, _ = parse_tool(tool_text(one), "refund.tool.md")
    assert again is not None
    assert (again.given, again.hash) == (one.given, one.hash)
    other = spec("## Rules\n\n1. __given__: `order` from `get-order`\n"
                 "    * `order_id`: `order_id`\n"
                 + "\n".join(RULES.splitlines()[4:]))  # fmt: skip
    assert other.hash == one.hash
    assert "given" not in spec("").canonical


@pytest.mark.parametrize(
    ("new", "weaker"),
    [
        (RULES, False),
        (RULES.replace("from get_order", "from any_order"), True),
        (RULES.replace("order_id: `order_id`", "order_id: `'o1'`"), True),
        ("", True),
        (RULES.replace("- `order.s", "- **Given**: more from get_order\n- `order.s"), False),
    ],
)
def test_another_lookup_is_weaker_and_the_old_one_stays(new: str, weaker: bool) -> None:
    old, now = spec(), spec(new)
    assert bool(list_weakened(old, now)) is weaker
    live = keep_stricter(old, now).spec
    assert old.given[0] in live.given
    assert {one.expression for one in old.rules} <= {one.expression for one in live.rules}


def test_an_example_whose_order_is_not_here_is_validated(shop) -> None:
    shown = '\n## Examples\n\n### One\n\n```json\n{"order_id": "o9", "amount": %s}\n```\n'
    for amount, passes in ((5, True), (-5, False)):
        workspace = shop(RULES + shown % amount)
        (tried,) = try_examples(workspace.settings.root, ["refund"])
        assert (tried.passed, tried.how) == (passes, "validated"), tried
