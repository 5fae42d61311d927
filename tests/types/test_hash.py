"""The content hash: the same for the same meaning, another for another."""

import dataclasses
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from pydantic import BaseModel
from whole_specs import SKILL, TOOL

from toolmd._load.cache import decode_call_spec, encode, hash_of
from toolmd._parse import parse_skill, parse_tool
from toolmd._types.call_spec import Limits, Rate, Safety
from toolmd._types.diagnostic import Source
from toolmd._types.schema import Schema, plain_numbers
from toolmd._types.skill import SkillSpec, Way
from toolmd._types.tool import FileSpec, ToolSpec

GOLDEN = Path(__file__).parent / "golden"
ROOT = Path(__file__).parents[2]
FILES = sorted([*ROOT.glob("skills_md/**/*.skill.md"), *ROOT.glob("tools_md/**/*.tool.md")])
PLACES = {"source", "line", "column", "value_column", "places"}
"""Where a thing stands in its file, which is no part of what it says."""
SPECS = pytest.mark.parametrize("spec", [TOOL, SKILL], ids=["tool", "skill"])


def is_noun(value: Any) -> bool:
    return isinstance(value, BaseModel) or dataclasses.is_dataclass(value)


def defaults_of(noun: Any) -> dict[str, Any]:
    """Return each field of a data type with its default."""
    if isinstance(noun, BaseModel):
        fields = type(noun).model_fields
        return {name: f.get_default(call_default_factory=True) for name, f in fields.items()}
    return {field.name: field.default for field in dataclasses.fields(noun)}


def written(noun: Any) -> dict[str, Any]:
    """Return the fields that have another value than when nothing was written."""
    fields = {name: (getattr(noun, name), bare) for name, bare in defaults_of(noun).items()}
    return {name: value for name, (value, bare) in fields.items() if value != bare}


def nouns_in(value: Any) -> Iterator[Any]:
    """Return every data type of a definition, including itself."""
    if is_noun(value):
        yield value
        for name in defaults_of(value):
            yield from nouns_in(getattr(value, name))
    elif isinstance(value, tuple):
        for inner in value:
            yield from nouns_in(inner)


def changes_of(noun: Any) -> Iterator[tuple[str, Any]]:
    """Return copies with one field changed each, at any depth, and its place."""
    kinds = get_type_hints(type(noun))
    defaults = defaults_of(noun)
    for name, value in written(noun).items():
        if name in PLACES:
            continue
        changed = list(others(value, kinds[name]))
        if type(defaults[name]) in (type(None), bool, int, str, tuple, dict):
            changed.append(("", defaults[name]))
        for way, other in changed:
            # Made anew: a copy would take its hash along.
            fields = {each: getattr(noun, each) for each in defaults}
            made = type(noun)(**{**fields, name: other})
            # A way that chooses has an expression, and no other way has one.
            if not isinstance(made, Way) or (made.kind == "choose") is (made.choose is not None):
                yield f".{name}{way}", made


def others(value: Any, kind: Any) -> Iterator[tuple[str, Any]]:
    """Return values that differ from `value`, and the place of the difference."""
    match value:
        case bool():
            yield "", not value
        case int() | float():
            yield "", value + 1
        case str():
            yield from (("", word) for word in words_of(kind) or [f"{value} too"] if word != value)
        case tuple():
            for index, inner in enumerate(value):
                before, after = value[:index], value[index + 1 :]
                yield f"[{index}]", (*before, *after)
                for way, other in others(inner, kind):
                    yield f"[{index}]{way}", (*before, other, *after)
        case dict():
            for key, inner in value.items():
                rest = {each: value[each] for each in value if each != key}
                for other in (rest, {**rest, key: "other"}, {**rest, f"{key} too": inner}):
                    yield f"[{key}]", other
        case _ if is_noun(value):
            yield from changes_of(value)


def words_of(kind: Any) -> list[str]:
    """Return the words that a closed list allows, of a union too."""
    inner = [word for each in get_args(kind) for word in words_of(each)]
    return [each for each in get_args(kind) if isinstance(each, str)] or inner


@SPECS
def test_a_change_of_any_field_changes_the_hash(spec):
    changes = list(changes_of(spec))
    assert len(changes) > 100
    assert [way for way, changed in changes if changed.hash == spec.hash] == []


def test_the_hash_of_any_tool_is_the_same_without_its_spec():
    for way, said in changes_of(TOOL):
        encoded = encode(said)
        assert hash_of(decode_call_spec(encoded), encoded) == said.hash, way


def test_these_specs_set_every_field_of_every_type():
    every, said = {}, {}
    for noun in (*nouns_in(TOOL), *nouns_in(SKILL)):
        every.setdefault(type(noun), set()).update(defaults_of(noun))
        said.setdefault(type(noun), set()).update(written(noun))
    assert {kind.__name__: fields - said[kind] - PLACES for kind, fields in every.items()} == {
        kind.__name__: set() for kind in every
    }


@SPECS
def test_positions_are_not_part_of_the_hash(spec):
    moved = type(spec)(
        **{name: getattr(spec, name) for name in defaults_of(spec)}
        | {"source": Source("elsewhere.md", 99)}
    )
    assert moved.hash == spec.hash
    assert moved.canonical == spec.canonical


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_moved_lines_are_not_part_of_the_hash_of_a_file(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    moved = text.replace("\n## ", "\n\n\n## ")
    parse = parse_skill if file.name.endswith(".skill.md") else parse_tool
    before, after = parse(text, file.name)[0], parse(moved, file.name)[0]
    assert before is not None
    assert after is not None
    assert after.hash == before.hash


@SPECS
def test_the_canonical_form_of_a_definition_is_the_golden_file(spec):
    golden = GOLDEN / f"{spec.kind}.json"
    assert json.loads(golden.read_text("utf-8")) == spec.canonical


@SPECS
def test_the_hash_is_sha256_of_the_canonical_form_sorted_and_compact(spec):
    golden = json.loads((GOLDEN / f"{spec.kind}.json").read_text("utf-8"))
    compact = json.dumps(golden, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert spec.hash == sha256(compact.encode("utf-8")).hexdigest()


def test_absent_fields_are_not_in_the_canonical_form():
    bare = ToolSpec(
        name="bare",
        title="Bare",
        description="",
        version="1",
        category="general",
        source=Source("bare.tool.md", 1),
        returns=Schema(),
    )
    assert bare.canonical == {
        "kind": "tool",
        "name": "bare",
        "title": "Bare",
        "version": "1",
        "category": "general",
        "requires_auth": False,
        "read_only": False,
        "idempotent": "no",
        "unknown_parameters": "reject",
        "input_schema": {"type": "object", "properties": {}, "additionalProperties": False},
    }
    skill = SkillSpec(
        name="bare",
        title="Bare",
        description="",
        version="1",
        category="general",
        source=Source("bare.skill.md", 1),
    )
    assert skill.canonical == {
        "kind": "skill",
        "name": "bare",
        "title": "Bare",
        "version": "1",
        "category": "general",
        "input_schema": {"type": "object", "properties": {}, "additionalProperties": False},
    }


def test_zero_and_false_are_in_the_canonical_form():
    fields = {name: getattr(TOOL, name) for name in defaults_of(TOOL)}
    safety = Safety(min_confidence=0.0, requires_confirmation=False)
    spec = ToolSpec(**fields | {"safety": safety, "limits": Limits(retries=0)})
    assert spec.canonical["safety"] == {"min_confidence": 0.0, "requires_confirmation": False}
    assert spec.canonical["limits"] == {"retries": 0}


def test_a_definition_is_a_tool_or_a_skill():
    fields = {name: getattr(TOOL, name) for name in FileSpec.model_fields}
    with pytest.raises(NotImplementedError):
        _ = type("Odd", (FileSpec,), {"kind": "odd"})(**fields).hash


@pytest.mark.parametrize("unknown", ["reject", "ignore"])
def test_the_schemas_of_a_tool_are_those_of_its_hash(unknown):
    fields = {name: getattr(TOOL, name) for name in defaults_of(TOOL)}
    spec = ToolSpec(**fields | {"unknown_parameters": unknown})
    assert spec.input_schema == spec.canonical["input_schema"]
    assert spec.output_schema == spec.canonical["output_schema"]


NUMBERS = """\
# Pump

Pump water.

## Metadata

- **Name**: pump
- **Version**: 1.0.0
- **Category**: water

## Parameters

### litres

- **Type**: number
- **Minimum**: {one}
- **Maximum**: 1e2
- **Default**: {one}
- **Enum**: {one}, 2.5

### steps

- **Type**: array
- **Example**: [{one}, {{"at": {one}}}]

## Returns

- **Type**: any

## Examples

### Once

```json
{{"litres": {one}}}
```
"""


def test_numbers_that_are_equal_give_one_hash_however_they_are_written():
    whole, pointed, powered = (
        parse_tool(NUMBERS.format(one=one), "pump.tool.md")[0] for one in ("1", "1.0", "10e-1")
    )
    assert whole is not None
    assert pointed is not None
    assert powered is not None
    assert json.dumps(whole.canonical) == json.dumps(pointed.canonical)
    assert whole.hash == pointed.hash == powered.hash


def test_numbers_that_are_nearly_equal_give_two_hashes():
    one, other = (
        parse_tool(NUMBERS.format(one=one), "pump.tool.md")[0] for one in ("1", "1.0000001")
    )
    assert one is not None
    assert other is not None
    assert one.hash != other.hash


def test_seconds_and_shares_of_a_spec_made_in_python_may_be_whole():
    fields = {name: getattr(TOOL, name) for name in defaults_of(TOOL)}
    whole, pointed = (
        ToolSpec(
            **fields
            | {
                "safety": Safety(min_confidence=one),
                "limits": Limits(timeout_s=one, backoff_s=one, rate=Rate(3, one)),
            }
        )
        for one in (1, 1.0)
    )
    assert whole.hash == pointed.hash


def test_only_exact_floats_are_written_without_a_point() -> None:
    written = plain_numbers({"a": [2.0**53, 2.0**53 + 2, -(2.0**54), 0.5]})

    assert json.dumps(written) == json.dumps({"a": [2**53, 2.0**53 + 2, -(2.0**54), 0.5]})


def test_a_value_too_deep_for_json_is_left_as_it_is() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    assert plain_numbers(deep) is deep
