"""Each line reads as the format says, or is refused."""

from functools import reduce
from textwrap import indent

import pytest

from toolmd._parse import parse_skill, parse_tool
from toolmd._types.diagnostic import Severity

METADATA = "- **Name**: pay\n- **Version**: 1.10\n- **Category**: payroll"
AMOUNT = "### amount\n\n- **Type**: integer\n- **Required**: true\n- **Minimum**: 0"
MORE = "### note\n\n- **Type**: string\n\n### texts\n\n- **Type**: array\n- **Items**: string"
REFUSED, WARNED = "refused", "warned"
FIRST = "parameters.0.shape"


def tool(section: str = "", line: str = "") -> str:
    """Return a tool with a line in one of its sections; `Type` gives its first parameter a type."""
    parameters = f"{AMOUNT}\n\n{MORE}"
    if section == "Type":
        parameters = f"### amount\n\n- **Type**: {line}"
    elif section == "Parameters":
        parameters = line
    metadata = {"Metadata": f"{METADATA}\n{line}", "Whole": line}.get(section, METADATA)
    returns = "- **Type**: object\n- **Description**: The slip"
    returns = line if section == "Returns" else returns
    head = f"Pay it.\n\n{line}" if section == "Head" else "Pay it."
    own = {"Type", "Parameters", "Metadata", "Whole", "Returns", "Head", ""}
    rest = "" if section in own else f"\n\n## {section}\n\n{line}"
    return (
        f"# Pay\n\n{head}\n\n## Metadata\n\n{metadata}\n\n## Parameters\n\n{parameters}\n\n"
        f"## Returns\n\n{returns}{rest}\n"
    )


def skill(section: str, text: str) -> str:
    """Return a skill with a workflow, a line in its Metadata, or lines in its only step."""
    step = "1. **Pay**.\n" + indent(text, "   ")
    workflow = {"Workflow": text, "Metadata": "1. Pay."}.get(section, step)
    line = text if section == "Metadata" else ""
    return (
        f"# Pay All\n\nPay all.\n\n## Metadata\n\n{METADATA}\n- **Required Tools**: pay, undo_pay\n"
        f"{line}\n\n## Workflow\n\n{workflow}\n\n## Input Schema\n\n### day\n\n- **Type**: string\n"
        "- **Required**: true\n\n## Output Schema\n\n- **Type**: object (SkillResult)\n"
        "- **Success**: boolean - paid\n- **Message**: string - m\n- **Data**: object - d\n"
        "- **Error**: string - e\n"
    )


def value_of(spec: object, path: str) -> object:
    """Return the value at a dotted path of attributes, keys and places."""

    def below(found: object, key: str) -> object:
        if isinstance(found, tuple):
            return found[int(key)]
        return found[key] if isinstance(found, dict) else getattr(found, key)

    return reduce(below, path.split("."), spec)


def check(parse, text: str, outcome: object) -> str:
    """Return in which way a text does not have an outcome; empty if it has."""
    spec, diagnostics = parse(text, "pay.tool.md")
    found = "\n".join(map(str, diagnostics))
    errors = [d for d in diagnostics if d.severity is Severity.ERROR]
    if outcome == REFUSED:
        remedy = all(d.message and d.help and d.span.line for d in errors)
        return "" if spec is None and errors and remedy else f"loads\n{found}"
    if spec is None:
        return f"is refused\n{found}"
    warnings = [d for d in diagnostics if d.severity is Severity.WARNING]
    wanted = outcome if isinstance(outcome, dict) else {}
    if bool(warnings) != (outcome == WARNED or wanted.get(WARNED, False)):
        return f"has {len(warnings)} warnings\n{found}"
    for path, value in wanted.items():
        if path != WARNED and (read := value_of(spec, path)) != value:
            return f"{path} is {read!r}, not {value!r}"
    return ""


def failing(parse, build, rows) -> list[str]:
    """Return each row whose text does not have its outcome."""
    found = [(line, check(parse, build(section, line), to)) for section, line, to in rows]
    return [f"{line!r} {why}" for line, why in found if why]


def each(section: str, lines: str, outcome: object, form: str = "{}") -> list:
    """Return a row for each of several values, separated by ` ; `."""
    return [(section, form.replace("{}", line), outcome) for line in lines.split(" ; ")]


YES = {"requires_auth": True}
AB = {f"{FIRST}.enum": ("a", "b")}
SLIP = "- **Type**: object\n- **Properties**:\n  - **t** (number, required): T\n"
CARD = (
    "object\n- **One Of**:\n  - **card**:\n    - **Properties**:\n"
    "      - **kind** (string, required): k\n      - **number** (string, required): n\n"
    "  - **bank**:\n    - **Properties**:\n      - **kind** (string, required): k\n"
)


def nested(levels: int) -> str:
    """Return an object whose properties nest that many levels deep."""
    return "object\n" + "".join(
        f"{'    ' * n}- **Properties**:\n{'    ' * n}  - **p{n}**:\n"
        f"{'    ' * n}    - **Type**: object\n"
        for n in range(levels)
    )


TOOL = {
    "Metadata": [
        ("Whole", "- **Version**: 1.10\n- **Category**: x", {"name": "pay", WARNED: True}),
        ("Whole", "- **Name**: pay\n- **Category**: x", {"version": "1.0.0", WARNED: True}),
        ("Whole", "- **Name**: pay\n- **Version**: 1.10", {"category": "general", WARNED: True}),
        ("Whole", METADATA, {"version": "1.10"}),
        ("Whole", METADATA.replace("pay\n", "pay-it\n"), {"name": "pay_it"}),
        *each("Metadata", "true ; yes ; TRUE ; ✅ ; required", YES, "- **Requires Auth**: {}"),
        *each("Metadata", "false ; No ; ❌ ; optional", {"requires_auth": False},
              "- Requires Auth: {}"),
        *each("Metadata", "maybe ; ture ; 1.5 ; ", REFUSED, "- **Requires Auth**: {}"),
        ("Metadata", "- **Requires Context**: patient, tenant",
         {"requires_context": ("patient", "tenant")}),
        ("Metadata", "- **Allowed Roles**: a\n  - **Requires Context**: patient", REFUSED),
        ("Metadata", "- **Tags**: a\n  - Requires Auth: yes", REFUSED),
        ("Metadata", "- **Requires Patient Context**: true", {"requires_context": ("patient",)}),
        ("Metadata", "- **Allowed Roles**: a, b", {"allowed_roles": ("a", "b"), **YES}),
        *each("Metadata", "a and b ; `a` and `b` ; a & b ; a, b and c", REFUSED,
              "- **Allowed Roles**: {}"),
        *each("Metadata", "Role ; Required Roles ; Needs Approval ; Requires Approval",
              REFUSED, "- **{}**: manager"),
        *[("Metadata", f"- **Idempotent**: {one}", {"idempotent": one})
          for one in ("yes", "no", "keyed")],
        ("Metadata", "- **Unknown Parameters**: ignore", {"unknown_parameters": "ignore"}),
        ("Metadata", "- **Unknown Parameters**: allow", REFUSED),
        ("Metadata", "- **Tags**: a, b", {"tags": ("a", "b")}),
        *each("Metadata", "mod:fn ; mcp github create_issue ; http GET /x/{amount}", {},
              "- **Implemented By**: {}"),
        ("Metadata", "- **Implemented By**: some odd words", REFUSED),
        *each("Metadata", "Audience ; Max Tokens ; Review ; Scope ; Limit ; Access ; Domain ; Risk "
              "; Security ; Permissions ; Level ; Confidential ; Allowed Codes", WARNED,
              "- **{}**: some words"),
        ("Metadata", "- **Max Tokens**: 500", {"extra.max_tokens": "500", WARNED: True}),
        ("Metadata", "- **Read Olny**: yes", {"read_only": True, WARNED: True}),
        *each("Metadata", "Requires Auht ; Requires Contxt ; Alowed Roles ; Unknwon Parameters",
              REFUSED, "- **{}**: yes"),
    ],
    "Types": [
        *[("Type", text, {f"{FIRST}.types": tuple(types.split())}) for text, types in (
            ("str", "string"), ("int", "integer"), ("float", "number"), ("bool", "boolean"),
            ("dict", "object"), ("list[str]", "array"), ("string[]", "array"),
            ("array of string", "array"), ("Array<string>", "array"),
            ("string | array", "string array"), ("`string`", "string"), ("String", "string"),
            ("Optional[str]", "string null"), ("Record<string, number>", "object"))],
        *each("Type", "strin ; banana ; array of banana", REFUSED),
        *each("Type", 'a, b ; a | b ; a or b ; `a`, `b` ; "a" | "b" ; [a, b] ; a,b', AB,
              "string\n- **Enum**: {}"),
        ("Type", '"a" | "b"', AB),
        ("Type", "string\n- **Enum**:\n  - a\n  - `b`", AB),
        ("Type", "string\n- **Enum**: a, b (optional, for restricted values)",
         {**AB, WARNED: True}),
        *each("Type", "a / b ; a/b", REFUSED, "string\n- **Enum**: {}"),
        ("Type", "integer\n- **Enum**: 1, x", REFUSED),
        ("Type", "string\n- **Required**: true (always)",
         {"parameters.0.required": True, WARNED: True}),
    ],
    "Fields of parameters": [
        ("Type", "string\n- **minLength**: 3\n- **max_length**: 4",
         {f"{FIRST}.min_length": 3, f"{FIRST}.max_length": 4}),
        *each("Type", "boolean\n- **Min Length**: 3 ; string\n- **Minimum**: 3 ; "
              "integer\n- **Minimum**: 3\n- **Default**: 2 ; string\n- **Default**: null ; "
              "integer\n- **Default**: soon ; "
              "string\n- **Enum**: a, b\n- **Default**: c ; "
              "integer\n- **Minimum**: 3\n- **Maximum**: 2 ; integer\n- **Minimun**: 3 ; "
              "string\n- **Widget**: 3 ; integer\n- **Multiple Of**: 3 ; "
              "string\n- **Pattern**: (?=x) ; string\n- **Sensitive**: perhaps ; "
              "string\n- **Required**: true\n- **Required**: false", REFUSED),
        ("Type", "string\n- **Pattern**: [A-Z]{2}", {f"{FIRST}.pattern": "[A-Z]{2}"}),
        *[("Type", f"string\n- **Format**: {one}", {f"{FIRST}.format": one})
          for one in ("date", "time", "date-time", "email", "uri", "uuid")],
        ("Type", "array\n- **Items**:\n  - **Type**: string\n- **Unique**: yes",
         {f"{FIRST}.items.types": ("string",), f"{FIRST}.unique": True}),
        *each("Type", "number\n- **Unit**: mmHg ; number\n- **Example**: 3 ; array ; "
              "string\n- **Verbatim**: yes ; string\n- **Accepts Handle**: yes", {}),
        *each("Type", "**Sensitive** true ; **Sensitive*: true ; **Sensitive**.: true ; "
              "*a*Max Length**: 5 ; **Max Length; 5 ; **Pattern – x ; * *Verbatim**: true ; "
              "**Enum**  a, b ; **Typ*e*: string", REFUSED, "string\n- {}"),
        *each("Type", "**red** is warm ; Required where it rains ; (of the day)", {},
              "string\n- {}"),
        ("Type", "integer\n\n#### **Minimum**: 0\n\n- **Maximum**: 9", REFUSED),
        ("Type", nested(16), {}),
        ("Type", nested(17), REFUSED),
        ("Type", CARD, {f"{FIRST}.types": ("object",)}),
        ("Type", f"{CARD}- **Discriminator**: kind", {f"{FIRST}.discriminator": "kind"}),
        ("Type", f"{CARD}- **Discriminator**: kin", REFUSED),
        ("Parameters", "### a\n\n- **Type**: string\n\n### a\n\n- **Type**: string", REFUSED),
        ("Parameters", "- `a` (string): x\n- `b?` (string): y",
         {"parameters.0.required": True, "parameters.1.required": False}),
        ("Parameters", "### patient\\_id\n\n- **Type**: string",
         {"parameters.0.name": "patient_id"}),
        ("Parameters", "- `a` - required - integer - x", {f"{FIRST}.types": ("integer",)}),
        *each("Parameters", "None ; No parameters ; N/A ; - None ;  ; *none*",
              {"parameters": ()}),
    ],
    "Returns": [
        ("Returns", f"{SLIP}- **To Model**: t", {"returns.to_model": ("t",)}),
        ("Returns", f"{SLIP}- **To Model**: u", REFUSED),
        ("Returns", f"{SLIP}- **Required**: yes", WARNED),
        ("Returns", f"{SLIP}- **Verbatim**: yes", REFUSED),
    ],
    "Rules": [
        *each("Rules", "- `amount < 9`: Too much. ; 1. `amount < 9` - Too much. ; "
              "* `amount < 9` — Too\n  much. ; - **`amount < 9`**: Too much.",
              {"rules.0.expression": "amount < 9", "rules.0.message": "Too much."}),
        *each("Rules", "- amount < 9: x ; - Keep it low. ; `amount < 9`: x ; - `amount <`: x ; "
              "- `amount < c`: x ; - `amount + 1`: x ; - `amount < 9` and `amount > 1`: x ; "
              "- **Rule**: `amount < 9` ; | a |\n|---|\n| `amount < 9` | ; ```\namount < 9\n```",
              REFUSED),
        *each("Rules", "- `'support' in caller.roles`: Support only. ; - `caller.user == 'a'`: No. "
              "; - `now > timestamp('2020-01-01T00:00:00Z')`: Later. ; None", {}),
    ],
    "Safety": [
        ("Safety", "- **Min Confidence**: 0.8", {"safety.min_confidence": 0.8}),
        *each("Safety", "80% ; 1.5 ; -0.1 ; high ; 0,8 ; ", REFUSED, "- **Min Confidence**: {}"),
        *each("Safety", "Requires Confirmation ; requires_confirmation ; Needs Confirmation ; "
              "Confirm", {"safety.requires_confirmation": True}, "- **{}**: yes"),
        *each("Safety", "when amount > 3 ; often ; ", REFUSED, "- **Requires Confirmation**: {}"),
        ("Safety", "- **Confirm When**: `amount > 3`", {"safety.confirm_when": "amount > 3"}),
        *each("Safety", "`amuont > 3` ; `note` ; amount is high", REFUSED,
              "- **Confirm When**: {}"),
        *[("Safety", f"- **Sensitivity**: {one}", {"safety.sensitivity": one})
          for one in ("low", "medium", "high", "critical")],
        *each("Safety", "hgh ; severe ; 4 ; ", REFUSED, "- **Sensitivity**: {}"),
        ("Safety", "- **Explicit Intent**: true\n- **Intent Keywords**: book, reserve",
         {"safety.intent_keywords": ("book", "reserve")}),
        *each("Safety", " ; \n- **Intent Keywords**: ; \n- **Intent Keywords**: 👍, 🙏", REFUSED,
              "- **Explicit Intent**: true{}"),
        *each("Safety", "Min Confidance: 0.8 ; Sensivity: high ; Audit: yes ; Max Rows: 3 ; "
              "Needs Approval: yes", REFUSED, "- {}"),
        *each("Safety", "- ask first ; ```yaml\nrequires_confirmation: true\n``` ; "
              "Requires Confirmation: perhaps", REFUSED),
        ("Safety", "| Field | Value |\n|---|---|\n| Sensitivity | high |",
         {"safety.sensitivity": "high"}),
        ("Saftey", "- **Sensitivity**: high", REFUSED), ("Limts", "- **Timeout**: 3s", REFUSED),
        ("Ruels", "- `amount > 1`: x", REFUSED),
    ],
    "Approval": [
        *each("Approval", "a, b ; a or b ; `'a' in approver.roles`", {},
              "- **When**: always\n- **By**: {}"),
        *each("Approval", "a and b ; a & b ; b\n- **Escalate**: after 2 hours to a and b", REFUSED,
              "- **When**: always\n- **By**: {}"),
    ],
    "Limits": [
        *[("Limits", f"- **{key}", {"limits.timeout_s": value}) for key, value in (
            ("Timeout**: 10s", 10), ("Timeout**: 500ms", 0.5), ("Timeout**: 2 minutes", 120),
            ("Timeout Seconds**: 10", 10), ("timeout_s**: 10", 10), ("Timeout Ms**: 500", 0.5))],
        *each("Limits", "10 ; soon ; -3s ; 0s ; 3 parsecs ; ", REFUSED, "- **Timeout**: {}"),
        ("Limits", "- **Rate**: 3/s", {"limits.rate.calls": 3, "limits.rate.per_s": 1}),
        ("Limits", "- **Rate**: 100/min", {"limits.rate.per_s": 60}),
        *each("Limits", "3/h ; 100/day ; 3 per day ; 0/s ; often ; 3", REFUSED, "- **Rate**: {}"),
        ("Limits", "- **Max Rows**: 1,000\n- **Max Bytes**: 64KB",
         {"limits.max_rows": 1000, "limits.max_bytes": 65536}),
        ("Limits", "- **Max Bytes**: 1MB", {"limits.max_bytes": 1 << 20, WARNED: True}),
        ("Limits", "- **Max Batch**: texts by 256", {"limits.max_batch.size": 256}),
        ("Limits", "- **Max Batch**: words by 256", REFUSED),
        *each("Limits", "3 calls per user per day ; 3 calls per user in 24h ; "
              "1 call per `note` ever ; 500 of amount per user per month ; "
              "3 calls per user per day when `amount > 3`",
              {}, "- **Quota**: {}"),
        *each("Limits", "3 calls per user ; 3 calls per day ; 3/d ; daily ; 3 calls ; "
              "500 of note per user per day ; 1 call per `now` ever ; 3 calls per role per day ; "
              "3 per user, 5 per day",
              REFUSED, "- **Quota**: {}"),
        ("Limits", "- **Allowed Domains**: a.com, *.b.org",
         {"limits.allowed_domains": ("a.com", "*.b.org")}),
        *each("Limits", "any ; * ; https:// ; a b c ; none ; ", REFUSED,
              "- **Allowed Domains**: {}"),
        *each("Limits", "Burst: 3 ; Quotas: 3/d ; Retry: 3 ; Sensitivity: high", REFUSED, "- {}"),
    ],
    "Examples and prose": [
        ("Examples", '### Low\n\n```json\n{"amount": 1}\n```\n\n```json\n{"paid": 1}\n```',
         {"examples.0.arguments": {"amount": 1}, "examples.0.result": {"paid": 1}}),
        ("Examples", '### Low\n\n```json\n{"amount": 1}\n```\n\n- **Error**: not_found',
         {"examples.0.error": "not_found"}),
        ("Head", "More of it.", {"description": "Pay it.", "notes": "More of it."}),
        ("FAQ", "Only **once** a month.", {"sections": {"FAQ": "Only **once** a month."}}),
        ("Limits", "- **Timeout**: 3s\n\nA word more.", {"limits.timeout_s": 3}),
        ("Notes", "```\n- **Requires Auth**: true\n## Safety\n```", {}),
        *each("Notes", "Rate**: the rate of the day ; Timeout**: what comes after a while ; "
              "Sensitivity**: of the test ; Allowed codes**: a ; Allowed rules**: see below", {},
              "- **{}"),
    ],
}  # fmt: skip
RESTRICTIONS = {
    "Requires Auth: true": "Metadata", "Allowed Roles: a": "Metadata",
    "Min Confidence: 0.8": "Safety", "Sensitivity: high": "Safety",
    "Requires Confirmation: yes": "Safety", "Confirm When: `amount > 3`": "Safety",
    "Explicit Intent: true": "Safety", "Allowed Domains: a.com": "Limits", "Rate: 3/s": "Limits",
    "Timeout: 3s": "Limits", "Quota: 3 calls per user per day": "Limits",
}  # fmt: skip
STEP = {
    "Steps": [
        *each("Step", "- **When**: `day > '2'` ; - **Timeout**: 3s ; - **Timeout Seconds**: 3 ; "
              "- **On error**: continue ; - **On error**: retry 3 times, then continue ; "
              "- **Save as**: y ; - **Check**: `true` ; - **If empty**: continue ; "
              "- **Undo**: undo_pay\n  - x: `day` ; - **For each**: d in `[1, 2]` ; "
              "- **For each**: d in [1, 2]\n- **At Once**: 3 ; - **With**:\n  - a: x {day} y ; "
              '- **Ask**: Pay on {day}?\n- **If no**: stop "x" ; - a plain remark', {},
              "- **Use**: pay\n{}"),
        *each("Step", "- **Confirm**: yes ; - **Approve**: x ; - **Foo**: bar ; - **Usee**: pay ; "
              "- **Tool**: pay ; - **Requires Confirmation**: yes ; - **Choose**: `day` ; "
              "- **When**: ; - **Timeout**: soon ; - **On error**: panic ; - **Save as**: 1 x ; "
              "- **If empty**: maybe ; - **For each**: d ; - **At Once**: 3 ; - **With**: x ; "
              "- **With**:\n  - hello ; - **With**:\n  - a: x {day y ; - **Use**: undo_pay ; "
              "- **Or else**: continue ; - **On error**: retry forever ; "
              "- **For each**: d in `[1]`\n  - **At Once**: 3", REFUSED, "- **Use**: pay\n{}"),
        *each("Step", "- **Confirm**: yes ; - **Approve**: x ; - **Foo**: bar ; - **Wait**: soon ; "
              "- **Ask**: ; - **Choose**: ; - **Return**:\n  - a", REFUSED),
        *each("Step", "- **Wait**: 2h ; - **Wait**: `timestamp(day)` ; - **Choose**: `day` ; "
              '- **Choose**: `[1].first()`\n- **Or else**: stop "n" ; - **Ask**: Really {day}? ; '
              "- **Stop**: not on {day} ; - **Return**:\n  - a: `day`\n  - b: text ; "
              "- **Return**: fine", {}),
    ],
    "Workflow": [
        ("Workflow", "1. **Use**: pay\n2. **Return**:\n   - a: `day`", {}),
        ("Workflow", "1. **Use**: pay\n2. **Stop**: not on {day}", {}),
        ("Workflow", "It pays:\n\n1. Look it up\n2. Pay it\n\nIf none, stop.",
         {"workflow_sections.0.steps.1.title": "Pay it"}),
        ("Workflow", "- **Pay**.\n  - **Use**: pay", REFUSED),
        ("Workflow", "1. **Use**: pay\n\n- **Save as**: x", REFUSED),
    ],
    "Metadata of a skill": [
        *each("Metadata", "Durable: false ; Required Skills: other ; Schedule: 0 9 * * 1", {},
              "- {}"),
        ("Metadata", "- **Patient From**: day", {"context": {"patient": "day"}}),
        ("Metadata", "- **Context**: patient from day", {"context": {"patient": "day"}}),
        *each("Metadata", "Durable: maybe ; Schedule: sometimes ; Requird Tools: x ; "
              "Context: patient ; Min Confidence: 0.8 ; Requires Confirmation: yes", REFUSED,
              "- {}"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("about", TOOL)
def test_each_line_of_a_tool_reads_as_the_page_says(about):
    assert not failing(parse_tool, tool, TOOL[about])


@pytest.mark.parametrize("about", STEP)
def test_each_line_of_a_skill_reads_as_the_page_says(about):
    assert not failing(parse_skill, skill, STEP[about])


@pytest.mark.parametrize("written", RESTRICTIONS)
def test_a_restriction_in_the_wrong_place_denies(written):
    key, _, value = written.partition(": ")
    places = {"Notes", "Head", "Parameters", "When to use", "Examples", "Rules", "Safety", "Limits"}
    wrong = sorted(places - {RESTRICTIONS[written]})
    rows = [(place, f"- **{key}**: {value}", REFUSED) for place in wrong]
    assert not failing(parse_tool, tool, rows)


@pytest.mark.parametrize("section", ["Title", "Metadata", "Parameters", "Returns"])
def test_a_tool_without_a_needed_section_is_refused(section):
    heading = "# Pay\n" if section == "Title" else f"## {section}\n"
    renamed = tool().replace(heading, "" if section == "Title" else "## Other\n")
    assert not check(parse_tool, renamed, REFUSED)


def test_front_matter_and_metadata_that_differ_are_refused():
    for line in ("name: other", "requires_auth: true"):
        text = f"---\n{line}\n---\n" + tool("Metadata", "- **Requires Auth**: false")
        assert not check(parse_tool, text, REFUSED)
