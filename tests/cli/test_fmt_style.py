"""`fmt` writes the form of parameters that the settings name."""

LONG = """\
# Count Flowers

Count the flowers of a kind.

## Metadata

- **Name**: count_flowers
- **Version**: 1.0.0
- **Category**: general

## Parameters

### kind

- **Type**: string
- **Required**: true
- **Description**: Which

## Returns

- **Type**: integer
- **Description**: How many
"""
FILE = "tools_md/count-flowers.tool.md"
LINE = "- `kind` (string, required): Which"


def test_the_setting_decides_the_form_and_without_it_a_file_keeps_its_own(console) -> None:
    console.write(FILE, LONG)
    settings = console.folder / "toolmd.toml"
    settings.write_text('[format]\nstyle = "compact"\n', encoding="utf-8")
    assert console("fmt").code == 0
    compact = (console.folder / FILE).read_text(encoding="utf-8")
    assert LINE in compact

    settings.write_text("", encoding="utf-8")
    assert console("fmt", "--check").code == 0

    settings.write_text('[format]\nstyle = "long"\n', encoding="utf-8")
    assert console("fmt", FILE).code == 0
    assert (console.folder / FILE).read_text(encoding="utf-8") == LONG


def test_an_unknown_form_is_an_error_that_names_the_known_ones(console) -> None:
    console.write(FILE, LONG)
    (console.folder / "toolmd.toml").write_text("[format]\nstyle = 3\n", encoding="utf-8")
    done = console("fmt")
    assert done.code == 2
    assert "keep, compact, long" in done.err
