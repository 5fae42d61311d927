"""Python functions become tools by one command, and stay where they are."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from tests.command import run_command

from toolmd import Workspace
from toolmd._import.python import list_functions, read
from toolmd._parse import parse_tool
from toolmd._validation import fits
from toolmd.errors import NotFoundError

HEAD = """\
import datetime as dt
import uuid
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, Optional
from typing_extensions import TypedDict
from pydantic import BaseModel, Field

class Color(Enum):
    RED = "red"
    BLUE = "blue"

class Item(TypedDict):
    sku: str
    count: int

@dataclass
class Point:
    x: float
    y: float = 0.0

class Address(BaseModel):
    street: str = Field(min_length=1)
    zip: Annotated[str, Field(pattern=r"^[0-9]{4}$")]
"""
UNIONS = """
from typing import Union
from pydantic import AfterValidator, ConfigDict

class Card(BaseModel):
    kind: Literal["card"]
    number: str

class Iban(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["iban"]
    iban: Annotated[str, Field(min_length=4)]

class Part(TypedDict, total=False):
    a: int
    b: str

class Tree(BaseModel):
    name: str
    children: list["Tree"] = []

def even(number):
    assert number % 2 == 0
    return number
"""
TYPES = (
    "str", "int", "float", "bool", "list[int]", "dict[str, int]", "Literal['a', 'b']", "Color",
    "int | None", "Optional[str]", "str | int", "Annotated[int, Field(ge=1, le=9)]",
    "Annotated[str, Field(min_length=2, max_length=3)]",
    "Annotated[list[str], Field(max_length=1)]", "dt.date",
    "dt.datetime", "uuid.UUID", "Item", "Point", "Address", "list[Item]", "Any",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, 0, 5, 12, 1.5, "", "a", "red", "ab", "abcd", "2026-01-31", "2026-02-31",
    "2026-01-31T10:00:00Z", "0b0d4a5e-5a52-4b0e-8d6a-1c9c1d7f1a11", [], [1], ["x"], ["x", "y"], {},
    {"a": 1}, {"a": "x"}, {"sku": "s", "count": 1}, [{"sku": "s", "count": 1}], {"x": 1},
    {"x": "1"}, {"street": "s", "zip": "1010"}, {"street": "", "zip": "1010"},
    {"street": "s", "zip": "10"},
)  # fmt: skip
SHOP = (
    HEAD
    + '''

def find_orders(
    customer: str,
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
    since: Optional[dt.date] = None,
) -> list[Item]:
    """Find the orders of a customer.

    The newest come first. Never more than 100 are returned.

    Args:
        customer: The customer's number.
        limit: How many orders.
        until: Nothing that the function has.

    Returns:
        The items of the orders.

    Raises:
        KeyError: There is no such customer.
    """
    return [{"sku": customer, "count": limit}]


async def place_order(items: list[Item], to: Address, color: Color = Color.RED) -> Point:
    """Place an order.

    :param items: What is ordered.
    """
    assert isinstance(to, Address)
    return Point(len(items))


def odd(a, /): ...
def many(*args, **named): "Take anything."
def untyped(word=3): ...
def _private(): ...
'''
)


HOSTED = 'def hosted(word: str, *, client: Exception): "Say a word."\n'


def module(folder: Path, text: str, name: str = "shop.py") -> str:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return str(file)


def imported(source: str) -> tuple[dict[str, str], list[str], list[str]]:
    made = read(list_functions(source), source)
    drafts = {draft.name: draft.text for draft in made.drafts}
    return drafts, [str(note) for note in made.notes], [str(note) for note in made.refused]


def test_functions_of_a_folder_can_be_called_after_one_command(tmp_path: Path) -> None:
    source = Path(module(tmp_path, SHOP))
    done = run_command(tmp_path, "import", "python", "shop.py")

    assert source.read_text("utf-8") == SHOP
    (tmp_path / "many.tool.md").unlink()  # it takes any arguments, so somebody must decide
    assert run_command(tmp_path, "check").code == 0
    with Workspace.open(tmp_path) as workspace:
        found = workspace.call_sync("find_orders", {"customer": "c", "limit": 2})
        assert found.data == [{"sku": "c", "count": 2}]
        order = {"items": found.data, "to": {"street": "s", "zip": "1010"}}
        assert workspace.call_sync("place_order", order).data == {"x": 1.0, "y": 0.0}
        denied = workspace.call_sync("find_orders", {"customer": "c", "limit": 101})
        assert denied.outcome == "denied"
    assert "not imported" in done.err  # The function with a positional parameter.


def test_the_draft_has_signature_and_docstring(tmp_path: Path) -> None:
    drafts, notes, refused = imported(module(tmp_path, SHOP + HOSTED))
    text = drafts["find_orders"]

    assert "**Implemented By**: shop:find_orders" in text
    assert "- **Maximum**: 100" in text.partition("### limit")[2]
    assert "- **Description**: The customer's number." in text
    assert "Raises KeyError: There is no such customer." in text
    assert "- **Description**: The items of the orders." in text
    assert "until: only the docstring has this parameter" in "\n".join(notes)
    assert "Never more than 100 are returned." in text
    assert any("args of the function takes any number" in note for note in notes)
    assert any("hosted.client: Exception is provided by the host" in note for note in notes)
    assert any("untyped.word: no type in the source" in note for note in notes)
    assert "`a` is positional only" in "\n".join(refused)
    assert "_private" not in drafts


STYLES = {
    "google": """Find the orders.

    The newest come first.

    Args:
        customer (str): The customer's number.
        limit (int, optional): How many orders.

    Returns:
        list: The items.

    Raises:
        KeyError: There is no such customer.

    Example:
        find_orders("c7")

    Note:
        Slow at night.
    """,
    "numpy": """Find the orders.

    The newest come first.

    Parameters
    ----------
    customer : str
        The customer's number.
    limit : int, optional
        How many orders.

    Returns
    -------
    list
        The items.

    Raises
    ------
    KeyError
        There is no such customer.

    Example
    -------
    find_orders("c7")

    Side Effects
    ------------
    Slow at night.
    """,
    "sphinx": """Find the orders.

    The newest come first.

    :param str customer: The customer's number.
    :param limit: How many
        orders.
    :type limit: int
    :returns: The items.
    :rtype: list
    :raises KeyError: There is no such customer.

    Example::

        find_orders("c7")

    .. note:: Slow at night.
    """,
    "epydoc": """Find the orders.

    The newest come first. Example: find_orders("c7"). Slow at night.

    @param customer: The customer's number.
    @param limit: How many orders.
    @return: The items.
    @raise KeyError: There is no such customer.
    """,
}


@pytest.mark.parametrize("style", STYLES)
def test_each_part_of_a_docstring_reaches_the_model_once(tmp_path: Path, style: str) -> None:
    body = f'def find_orders(customer: str, limit: int = 1) -> list:\n    r"""{STYLES[style]}"""'
    drafts, notes, _ = imported(module(tmp_path, body))
    spec, _ = parse_tool(drafts["find_orders"], "x.tool.md")
    assert spec is not None
    module(tmp_path, drafts["find_orders"], "tools_md/find_orders.tool.md")
    with Workspace.open(tmp_path) as workspace:
        offered = str(workspace.export("openai"))

    assert [" ".join(one.shape.description.split()) for one in spec.parameters] == [
        "The customer's number.",
        "How many orders.",
    ]
    assert (spec.description, spec.returns.description) == ("Find the orders.", "The items.")
    for part in ("newest", "number.", "How many", "no such customer", "c7", "Slow at night"):
        assert offered.count(part) == 1, (part, offered)
    assert not any("docstring" in note for note in notes)


def test_a_section_that_can_not_be_read_is_kept_whole(tmp_path: Path) -> None:
    doc = "Do.\n\n    Args:\n        the number\n\n    Returns:\n        All.\n    "
    body = f'def f(a: int):\n    """{doc}"""'
    drafts, notes, _ = imported(module(tmp_path, body))
    spec, _ = parse_tool(drafts["f"], "x.tool.md")

    assert spec is not None
    assert "the number" in spec.when_to_use
    assert spec.returns.description == "All."
    assert any("a section of the docstring is kept whole" in note for note in notes)


@pytest.mark.parametrize("mark", [":", "@"], ids=["sphinx", "epydoc"])
def test_a_type_is_kept_where_its_parameter_has_no_description(tmp_path: Path, mark: str) -> None:
    fields = ("param a: The size.", "type a: int", "type b: int or None, never negative")
    doc = "\n    ".join(("Do.\n", *(mark + field for field in fields)))
    drafts, _, _ = imported(module(tmp_path, f'def f(a: int, b: int):\n    """{doc}\n    """'))
    spec, _ = parse_tool(drafts["f"], "x.tool.md")

    assert spec is not None
    assert spec.parameters[0].shape.description == "The size."
    assert "type b: int or None, never negative" in spec.when_to_use
    assert "type a" not in drafts["f"]


MORE = (
    "None", "Card", "Iban", "Part", "Tree", "Union[Card, Iban]", "dt.time", "dt.timedelta",
    "Annotated[Union[Card, Iban], Field(discriminator='kind')]", "Decimal", "dict[int, str]",
    "Annotated[float, Field(ge=0, le=3)]",
    "Annotated[str, Field(pattern='b')]", "Annotated[int, AfterValidator(even)]", "bytes",
    "set[int]", "tuple[int, str]", "tuple[int, ...]", "list", "dict", "Literal[2, 'a']",
)  # fmt: skip
OTHERS: tuple[Any, ...] = (
    {"kind": "card", "number": "1"}, {"kind": "card"}, {"kind": "iban", "iban": "1234"},
    {"kind": "iban", "iban": "1"}, {"kind": "iban", "iban": "1234", "number": "2"},
    {"a": 1, "z": 2},
    {"b": "t"}, {"name": "n", "children": [{"nam": "m"}]}, 2, 1.25, -1, "10:00:00", "P1D", [1, "a"],
    [1, 1], [[1]], [{"a": 1}], {"q": None}, {"q": [1]}, {"q": "a"}, [None], {"1": "a"}, "abc",
)  # fmt: skip
HINTS = st.recursive(
    st.sampled_from((*TYPES, *MORE)),
    lambda hints: st.one_of(
        hints.map("list[{}]".format),
        hints.map("dict[str, {}]".format),
        hints.map("Optional[{}]".format),
        st.tuples(hints, hints).map(lambda two: f"Union[{two[0]}, {two[1]}]"),
    ),
    max_leaves=3,
)


@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(HINTS, min_size=60, max_size=90, unique=True))
@example([*TYPES, *MORE])
def test_a_parameter_accepts_what_pydantic_accepts_or_a_note_says_where_not(
    tmp_path_factory: pytest.TempPathFactory, hints: list[str]
) -> None:
    functions = "".join(
        f"def take_{number}(value: {hint}): 'Take it.'\n" for number, hint in enumerate(hints)
    )
    folder = tmp_path_factory.mktemp("functions")
    drafts, notes, refused = imported(module(folder, HEAD + UNIONS + functions))
    assert refused == []
    own = ModuleType("own")
    exec(HEAD + UNIONS, own.__dict__)
    told = "\n".join(notes)

    silent = []
    for number, hint in enumerate(hints):
        spec, found = parse_tool(drafts[f"take_{number}"], f"take-{number}.tool.md")
        assert spec is not None, found
        if (f"take_{number}.value" in told or f": take_{number}:" in told) and hint not in TYPES:
            continue
        fit, adapter = fits(spec.parameters[0].shape), TypeAdapter(eval(hint, own.__dict__))
        # 1 and true are one value of an enum in Python, and never in JSON.
        values = [each for each in VALUES if each is not True]
        values += () if hint in TYPES else OTHERS
        silent += [(hint, each) for each in values if fit(each) != _takes(adapter, each)]
    assert silent == []


def _takes(adapter: TypeAdapter[Any], value: Any) -> bool:
    try:
        adapter.validate_json(json.dumps(value), strict=True)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    ("head", "about"),
    [
        ("*args: int", "args of the function takes any number of arguments"),
        ("**more", "more of the function takes any number of arguments"),
        ("db=None", "db accepts any value of a call"),
        ("db: Exception", "db accepts any value of a call"),
    ],
)
def test_a_draft_with_less_or_more_arguments_than_meant_fails_until_somebody_decides(
    tmp_path: Path, head: str, about: str
) -> None:
    module(tmp_path, f'def pay(amount: int, {head}) -> int:\n    """Pay."""\n    return 1\n')
    run_command(tmp_path, "import", "python", "shop.py")
    draft = tmp_path / "pay.tool.md"
    unseen = run_command(tmp_path, "check")
    lines = draft.read_text("utf-8").split("\n")
    draft.write_text("\n".join(line for line in lines if "**Restriction" not in line), "utf-8")

    assert unseen.code == 1
    assert unseen.out.count(": error[") == 1
    assert f"- **Restriction 1**: {about}" in "\n".join(lines)
    assert ": error[" not in run_command(tmp_path, "check").out


def test_a_module_may_get_names_while_it_is_read(tmp_path: Path) -> None:
    source = """
class Lazy:
    def __getattr__(self, name):
        globals()[name] = 1
        raise AttributeError(name)

lazy = Lazy()

def ring(times: int) -> int:
    return times
"""
    drafts, _, _ = imported(module(tmp_path, source))

    assert [*drafts] == ["ring"]


def test_a_choice_of_a_type_that_no_call_can_pass_is_left_out(tmp_path: Path) -> None:
    source = """
class Locale:
    pass

def shown(number: int, locale: Locale | str | None = None) -> str:
    return str(number)
"""
    drafts, notes, _ = imported(module(tmp_path, source))

    assert "### locale\n\n- **Type**: string\n- **Required**: false" in drafts["shown"]
    assert any("locale: Locale has no schema: no call can pass one" in note for note in notes)


def test_null_stays_a_value_where_it_does_not_mean_an_absent_argument(tmp_path: Path) -> None:
    (tmp_path / "tools_md").mkdir()
    (tmp_path / "tools_md" / "shelf.py").write_text(
        "from typing import Literal, Optional\n\n"
        'def find(size: int | None = 5, kind: Optional[Literal["a", "b"]] = "a",\n'
        "         word: str | None = None) -> str:\n"
        '    """Find."""\n    return f"{size} {kind} {word}"\n'
    )
    assert run_command(tmp_path, "import", "python", "tools_md/shelf.py").code == 0

    with Workspace.open(tmp_path) as workspace:
        assert workspace.call_sync("find", {}).data == "5 a None"
        assert workspace.call_sync("find", {"size": None, "kind": None}).data == "None None None"
        absent = workspace.call_sync("find", {"word": None})
    assert (absent.data, absent.notes) == ("5 a None", ("null counts as missing: word",))


def test_the_items_of_a_stream_are_the_result(tmp_path: Path) -> None:
    source = """
from collections.abc import AsyncIterator
from typing_extensions import TypedDict

class Item(TypedDict):
    sku: str
    count: int

async def picked(order: str) -> AsyncIterator[Item]:
    yield {"sku": order, "count": 1}
"""
    drafts, notes, _ = imported(module(tmp_path, source))

    assert "- **sku**:" in drafts["picked"].partition("## Returns")[2]
    assert not any("returns" in note for note in notes)


def test_a_tuple_of_one_type_is_a_list_of_its_length(tmp_path: Path) -> None:
    source = (
        "def span(days: tuple[int, int], mixed: tuple[int, str]) -> str:\n    return str(days)\n"
    )
    drafts, notes, _ = imported(module(tmp_path, source))

    assert "- **Min Items**: 2\n- **Max Items**: 2" in drafts["span"]
    assert [note for note in notes if "prefixItems" in note and "mixed" in note]
    assert not [note for note in notes if "days" in note]


def test_named_functions_alone_are_imported(tmp_path: Path) -> None:
    drafts, _, refused = imported(module(tmp_path, SHOP) + ":many,nothing")

    assert [*drafts] == ["many"]
    assert "no such function" in refused[0]


def test_a_module_of_a_package_is_found_by_its_name_and_by_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module(tmp_path, "", "sales/__init__.py")
    module(tmp_path, "NUMBER = 3\n", "sales/base.py")
    file = module(
        tmp_path, "from .base import NUMBER\ndef count() -> int: return NUMBER\n", "sales/orders.py"
    )
    monkeypatch.chdir(tmp_path)

    assert imported("sales.orders")[0] == imported(file)[0]
    assert "orders:count" in imported(file)[0]["count"]


def test_an_installed_module_is_named_whole() -> None:
    drafts, _, _ = imported("textwrap:dedent")
    assert "**Implemented By**: textwrap:dedent" in drafts["dedent"]


def test_drafts_of_a_module_that_a_project_does_not_read_go_into_its_folder(tmp_path: Path) -> None:
    project = tmp_path / "project"
    module(project, "plugins = []\n", "toolmd.toml")
    for place, name in (
        ("project", "shop.py"),
        ("elsewhere", "yard.py"),
        ("project/src", "pier.py"),
    ):
        source = module(tmp_path / place, f"def {name[:-3]}_one(): ...\n", name)
        done = run_command(project, "import", "python", source)
        assert (project / "tools_md" / f"{name[:-3]}-one.tool.md").is_file()
        assert "move or install it" in done.err
        Path(source).rename(project / "tools_md" / name)
    assert not (tmp_path / "elsewhere" / "toolmd.toml").exists()
    with Workspace.open(project) as workspace:
        assert workspace.call_sync("yard_one").success


def test_drafts_outside_the_folders_of_a_project_tell_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "toolmd.toml").write_text("plugins = []\n")
    module(tmp_path, "def one(): ...\n", "src/shop.py")

    done = run_command(tmp_path, "import", "python", "src/shop.py", "--out", "src")

    assert "add 'src' to `tools`" in done.err
    assert (tmp_path / "src" / "one.tool.md").is_file()
    assert not (tmp_path / "src" / "toolmd.toml").exists()


def test_what_a_module_prints_or_breaks_is_told(tmp_path: Path) -> None:
    assert "loud" in imported(module(tmp_path, "print('{')\ndef loud(): ...\n", "loud.py"))[0]
    with pytest.raises(NotFoundError, match="ZeroDivisionError"):
        list_functions(module(tmp_path, "1 / 0\n", "broken.py"))
    with pytest.raises(NotFoundError, match="no such file"):
        list_functions(str(tmp_path / "none.py"))
    with pytest.raises(NotFoundError, match="write module"):
        list_functions("not a module!")


def test_a_tool_of_another_framework_is_refused_with_the_remedy(tmp_path: Path) -> None:
    text = "class Tool:\n    def __init__(self, fn): self.fn = fn\n\n@Tool\ndef say(): ...\n"
    _, _, refused = imported(module(tmp_path, text))
    assert "keep the plain function under a name of its own" in refused[0]


def test_the_usual_typed_dict_is_read_on_every_python(tmp_path: Path) -> None:
    text = "from typing import TypedDict\nclass A(TypedDict):\n    x: int\ndef take(a: A): ...\n"
    assert "- **x**:" in imported(module(tmp_path, text))[0]["take"]


def test_standard_input_is_no_module(tmp_path: Path) -> None:
    done = run_command(tmp_path, "import", "python", "-")
    assert done.code == 5
    assert "write module" in done.err
