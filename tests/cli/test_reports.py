"""Diagnostics in the five output formats."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from toolmd._cli.diagnostics import REPORTS, lines_below, summary
from toolmd._types.diagnostic import Diagnostic, Edit, Severity, Span

GOLDEN = Path(__file__).parent / "golden"
SOURCE = ["# X", "- **Type**: strng", "\t- 名前 nmae: x"]
FOUND = (
    Diagnostic(
        Span("tools_md/x.tool.md", 2, 13, 2, 18),
        "unknown-type",
        Severity.ERROR,
        "unknown type 'strng' for parameter 'city'",
        "did you mean 'string'?",
        (Edit(2, 13, 2, 18, "string"),),
    ),
    Diagnostic(
        Span("tools_md/x.tool.md", 3, 7, 3, 11),
        "misspelt-field",
        Severity.WARNING,
        "100%, sure:\nnot a field",
    ),
    Diagnostic(Span("a b,c.tool.md", 1, 1, 9, 1), "empty-file", Severity.HINT, "nothing in it"),
)


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_reads_as_the_golden_file(name: str) -> None:
    text = REPORTS[name](FOUND, lambda path: SOURCE if path.endswith("x.tool.md") else [])
    golden = (GOLDEN / f"report.{name}").read_text("utf-8").rstrip("\n")
    assert text.replace(_version(text), '"version": "V"') == golden


def _version(text: str) -> str:
    versions = [line.strip().rstrip(",") for line in text.splitlines() if '"version"' in line]
    return next((v for v in versions if "2.1.0" not in v), "\0")


def test_json_is_the_list_of_the_interface() -> None:
    (first, *_) = json.loads(REPORTS["json"](FOUND, lambda _: []))
    assert list(first) == [
        "path",
        "line",
        "column",
        "end_line",
        "end_column",
        "code",
        "severity",
        "message",
        "help",
        "fix",
    ]


def test_nothing_found_is_still_a_document_for_programs() -> None:
    assert json.loads(REPORTS["json"]((), lambda _: [])) == []
    assert json.loads(REPORTS["sarif"]((), lambda _: []))["runs"][0]["results"] == []
    assert REPORTS["github"]((), lambda _: []) == ""


SARIF = {
    "required": ["$schema", "version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "items": {
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "properties": {
                            "driver": {
                                "required": ["name", "rules"],
                                "properties": {
                                    "rules": {
                                        "uniqueItems": True,
                                        "items": {"required": ["id", "shortDescription"]},
                                    }
                                },
                            }
                        }
                    },
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "results": {
                        "items": {
                            "required": ["ruleId", "message", "locations"],
                            "properties": {
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": {"required": ["text"]},
                                "locations": {
                                    "items": {
                                        "properties": {
                                            "physicalLocation": {
                                                "properties": {
                                                    "artifactLocation": {
                                                        "properties": {
                                                            "uri": {"pattern": "^[^ ]*$"}
                                                        }
                                                    },
                                                    "region": {
                                                        "additionalProperties": {
                                                            "type": "integer",
                                                            "minimum": 1,
                                                        }
                                                    },
                                                }
                                            }
                                        }
                                    }
                                },
                            },
                        }
                    },
                },
            }
        },
    },
}


def test_sarif_has_the_shape_of_2_1_0() -> None:
    document = json.loads(REPORTS["sarif"](FOUND, lambda _: []))
    Draft202012Validator(SARIF).validate(document)
    run = document["runs"][0]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(ids[r["ruleIndex"]] == r["ruleId"] for r in run["results"])


def test_lines_are_counted_as_the_parser_counts_them(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes("\ufeffa\r\nb\u2028c\rd\xff".encode("utf-8") + b"\xff")
    assert lines_below(tmp_path)("x")[:2] == ["a", "b\u2028c"]
    assert lines_below(tmp_path)("missing") == [""]


def test_a_summary_counts_by_severity() -> None:
    assert summary(FOUND) == "1 error, 1 warning, 1 hint in 2 files"
    assert summary(()) == "nothing found"
