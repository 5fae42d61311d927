"""Format a PromptSpec as the canonical `.prompt.md` text."""

from toolmd._parse.writing.fields import parameters_text
from toolmd._parse.writing.tool_text import extra_lines, head, optional_section, others, section
from toolmd._types.prompt import PromptSpec

_KNOWN = ("Metadata", "Arguments", "Prompt")


def prompt_text(spec: PromptSpec) -> str:
    """Return the canonical text; it parses to the same spec."""
    metadata = [f"- **Name**: {spec.name}", *extra_lines(spec)]
    blocks = [*head(spec), *section("Metadata", spec, "\n".join(metadata))]
    blocks += optional_section("Arguments", spec, *parameters_text(spec.parameters))
    blocks += ["## Prompt", spec.text, *others(spec, _KNOWN)]
    return "\n\n".join(blocks) + "\n"
