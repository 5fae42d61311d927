"""The fields of a skill's Metadata: who may start it, and which tools it may use."""

from toolmd._parse.fields.field import Field

INVOCATION = (
    Field(
        "Model Invocation",
        "model_invocation",
        "boolean",
        "Whether a model may start it; `no`: only people and programs start it.",
        "yes",
        restricts=True,
    ),
    Field(
        "Disable Model Invocation",
        "disable_model_invocation",
        "boolean",
        "`yes` is read as `Model Invocation: no`.",
        "no",
        restricts=True,
    ),
    Field(
        "User Invocable",
        "user_invocable",
        "boolean",
        "Whether it is offered to people: as a prompt over MCP, with a form in the console.",
        "yes",
        restricts=True,
    ),
    Field(
        "Allowed Tools",
        "allowed_tools",
        "patterns",
        "The only tools of Toolmd or of another program that it may use: `Read, Bash(git:*)`.",
        restricts=True,
        aliases=("Tools Allowed",),
    ),
    Field(
        "Disallowed Tools",
        "disallowed_tools",
        "patterns",
        "The tools of Toolmd or of another program that it must not use.",
        restricts=True,
        aliases=("Tools Disallowed", "Forbidden Tools"),
    ),
)
"""Agent Skills have the same fields in their front matter."""
