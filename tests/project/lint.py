"""Check the rules of the house that ruff does not know: `make lint` runs it.

It prints each finding as `path:line: what is wrong`, and ends with 1 if there is any.
"""

import ast
import inspect
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from tracked import ROOT, tracked

import toolmd
from toolmd import config, database, hooks, importing, testing

LONGEST_FUNCTION = 60
LONG_FUNCTIONS = {
    "framework/toolmd/_chat/conversation.py:__init__": "its options, each in its docstring"
}
"""`path:name` of longer functions, and the reasons."""
LONGEST_SENTENCE = 35
"""The words that a sentence of the docs may have."""
VAGUE = {"utils", "util", "helpers", "helper", "common", "base", "misc"}
"""Names of modules that say nothing about what they contain."""

PRIVATE_WORDS = {
    r"doors?": "dispatcher, interface, or call pipeline",
    r"ladders?|rungs|rows? (?:\d\w?|[0-9]+ (?:and|to) \d)": "call pipeline, checks",
    r"judges?|judged|judging|rulings?": "guard, verdict, check",
    r"(?<!\.)refus(?!(?:ed|al)[\"`':])\w+": "deny, denial, reject",
    r"held calls?|calls? (?:that (?:is|are) )?held|redeem\w*": "confirmation, pending call",
    r"loosen\w*": "weaken, policy change that weakens",
    r"tally|tallies|patience|lookouts?|errands?|retrac\w+": "counter, lock retry, reclaimer",
    r"portraits?|misfit\w*|surplus|notebooks?|waist|storeys?": "detail, mismatch, layer",
    r"anew|whoever|whomever|to be had|is told|are told": "again, a noun, available, receives",
    r"knocks?|ears|last words": "request, event stream",
    r"mends?|mended|mending": "fix, correct",
    r"eras?": "the protocol's revision, such as 2026-07-28",
    r"lone surrogates?|half (?:of )?a (?:character|letter|surrogate pair)": "unpaired surrogate",
}
"""Words that only this project used, as patterns; each with what the field says instead."""
OPENINGS = re.compile(r"(Give|Tell|Say|Hold|Hear|Look|Take)s?\b")
"""Verbs that say nothing about what a function does: return, report, check, find, call do."""

KNOWN_HOSTS = {
    "127.0.0.1": "this machine",
    "localhost": "this machine",
    "json-schema.org": "the dialect of the schemas that are written",
    "json.schemastore.org": "the schema that a SARIF log names",
    "www.apache.org": "the licence",
    "www.w3.org": "the namespace of an SVG",
    "169.254.169.254": "what a tool must not reach",
    "dtd.nlm.nih.gov": "names the form of PubMed's records",
    "eutils.ncbi.nlm.nih.gov": "the service of PubMed",
    "api.openai.com": "whose key goes to nobody else",
    **dict.fromkeys(
        (
            "api.anthropic.com",
            "generativelanguage.googleapis.com",
            "api.mistral.ai",
            "api.groq.com",
            "api.deepseek.com",
            "name.openai.azure.com",
        ),
        "a provider that the guide of `toolmd chat` lists",
    ),
    "openrouter.ai": "the models that `toolmd chat` asks where no other address is set",
    "loinc.org": "names codes in a patient's record",
    "terminology.hl7.org": "names codes in a patient's record",
    "unitsofmeasure.org": "names codes in a patient's record",
    "keepachangelog.com": "how the changelog is kept",
    "semver.org": "how versions are counted",
}
"""The hosts that code, settings and tests may name; pages may link to any host over https."""
RESERVED = re.compile(r"(^|\.)(example(\.(com|org|net))?|test|invalid|localhost)$")
HOSTILE = {"tests/egress/test_hostile_urls.py", "tests/egress/test_ways_out.py"}
"""Files of addresses that must be denied."""
ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://(?:[^\s/@]*@)?\[?([\w.-]+)", re.IGNORECASE)
LINK = re.compile(r"\]\(https://[^)\s]+\)|<https://[^>\s]+>")
LOCAL_PATH = re.compile(r"(?<![\w.~-])/(?:wor[k]|roo[t]|far[m]|tm[p])/\w")
PAGE_NAME = re.compile(r'(?<![\w.-])([a-z0-9-]+\.md)\b(?:, "([^"\n]+)")?')
ARGS = re.compile(r"^Args:\n((?: {4}.*\n?|\n)*)", re.MULTILINE)

Finding = tuple[int, str]
"""The line, from 1, and what is wrong there."""


class File:
    """A file of the project, which is read and parsed at most once."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        self.is_python = name.endswith(".py")
        self.is_test = "tests" in Path(name).parts
        self.is_code = bool(re.fullmatch(r"(framework|plugins/[^/]+/src)/.*\.py", name))
        self.is_page = name.endswith(".md") and not name.endswith((".tool.md", ".skill.md"))
        self.is_shown = bool(re.fullmatch(r"framework/.*\.html|(docs/.*|[A-Z]+)\.md", name))

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The nodes of a Python file, in the order of `ast.walk`."""
        return [*ast.walk(ast.parse(self.text))]


def purpose(file: File) -> Iterator[Finding]:
    """The first line of a Python file is a docstring, and its sentence ends there."""
    if file.is_python and not re.match(r'"""[^\n]+?[.:]("""|$)', file.text, re.MULTILINE):
        yield 1, "the first line must be a docstring whose sentence ends there"


def names(file: File) -> Iterator[Finding]:
    """A module is named after what it contains."""
    parts = {part.strip("_") for part in Path(file.name).with_suffix("").parts}
    if file.is_python and not file.is_test and VAGUE & parts:
        yield 1, f"name the module after what it contains, not {', '.join(VAGUE & parts)!r}"


def sizes(file: File) -> Iterator[Finding]:
    """A function is small or has a reason."""
    for node in file.nodes if file.is_python and not file.is_test else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > LONGEST_FUNCTION and f"{file.name}:{node.name}" not in LONG_FUNCTIONS:
                yield node.lineno, f"{node.name} has {lines} lines, more than {LONGEST_FUNCTION}"


def words(file: File) -> Iterator[Finding]:
    """Code and pages use the words of the field."""
    lines = file.text.splitlines() if file.is_code or file.is_shown else ()
    for number, line in enumerate(lines, 1):
        for pattern, instead in PRIVATE_WORDS.items():
            if found := re.search(rf"\b(?:{pattern})\b", line, re.IGNORECASE):
                yield number, f"{found[0]!r}; write: {instead}"


def openings(file: File) -> Iterator[Finding]:
    """A docstring begins with a verb that says what happens."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    for node in file.nodes if file.is_code else ():
        if isinstance(node, kinds) and OPENINGS.match(ast.get_docstring(node) or ""):
            yield (
                getattr(node, "lineno", 1),
                "begin the docstring with return, check, parse or build",
            )


def sentences(file: File) -> Iterator[Finding]:
    """A sentence of the docs is short; tables and code have no sentences."""
    table = False
    pages = file.is_shown and file.is_page
    for token in MarkdownIt("commonmark").enable("table").parse(file.text) if pages else ():
        table = token.type == "table_open" or (table and token.type != "table_close")
        if token.type == "inline" and not table:
            for sentence in re.split(r"(?<=[.!?:;])\s+", token.content):
                if len(sentence.split()) > LONGEST_SENTENCE:
                    yield (token.map or [0])[0] + 1, f"a sentence of over {LONGEST_SENTENCE} words"


def hosts(file: File) -> Iterator[Finding]:
    """An address names a known host or an example."""
    if file.name in HOSTILE:
        return
    for number, line in enumerate(file.text.splitlines(), 1):
        for host in map(str.lower, ADDRESS.findall(LINK.sub("", line) if file.is_page else line)):
            known = host in KNOWN_HOSTS or RESERVED.search(host.rstrip("."))
            if "." in host and not known:
                yield number, f"{host} is no known host and no example"


def paths(file: File) -> Iterator[Finding]:
    """No file contains a path of one machine."""
    for number, line in enumerate(file.text.splitlines(), 1):
        if LOCAL_PATH.search(line):
            yield number, "a path of one machine"


def locks(file: File) -> Iterator[Finding]:
    """The one lock names versions and hashes only."""
    if Path(file.name).name in {"uv.lock", "pylock.toml", "poetry.lock"}:
        yield 1, "constraints.txt is the one lock"
    if file.name == "constraints.txt" and (
        "://" in file.text or re.search(r"^\s*--(?!hash=)", file.text, re.MULTILINE)
    ):
        yield 1, "the lock may have versions and hashes only"


def upward(file: File) -> Iterator[Finding]:
    """No package imports the public module, and a plugin uses only the public API."""
    for node in file.nodes if file.is_code else ():
        match node:
            case ast.Import(names=found):
                modules = [alias.name for alias in found]
            case ast.ImportFrom(module=module, names=found, level=0):
                modules = [f"{module}.{alias.name}" for alias in found] if module else []
                modules += ["toolmd"] if module == "toolmd" else []
            case ast.ImportFrom():
                modules = ["toolmd"]
            case _:
                continue
        inside = file.name.startswith("framework/")
        if (inside and "toolmd" in modules) or (
            not inside and any(module.startswith("toolmd._") for module in modules)
        ):
            yield node.lineno, "imports the public module" if inside else "imports a private name"


def references(file: File) -> Iterator[Finding]:
    """A page, a section or a seed that a docstring names exists."""
    for docstring in re.findall(r'""".+?"""', file.text, re.DOTALL) if file.is_code else ():
        for page, section in PAGE_NAME.findall(docstring):
            found = list((ROOT / "docs").rglob(page))
            text = found[0].read_text("utf-8") if found else ""
            if not found or (
                section and section not in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
            ):
                yield 1, f"no page {page}" if not found else f"{page} has no section {section!r}"


EACH: tuple[Callable[[File], Iterator[Finding]], ...] = (
    purpose, names, sizes, words, openings, sentences, hosts, paths, locks, upward, references
)  # fmt: skip
"""The rules that each file must keep."""


def same_names(files: list[File]) -> Iterator[str]:
    """Test files have unique names, since they are in no package."""
    tests = [Path(file.name).name for file in files if file.is_test and file.is_python]
    for name, times in Counter(tests).items():
        if times > 1 and name != "conftest.py":
            yield f"{name}: {times} test files have this name"


HOSTS = {
    path.stem.replace("_", "-") for path in (ROOT / "framework/toolmd/adapters").glob("[a-z]*.py")
}
"""The extras with an agent framework, which `make test-adapters` installs; none is locked."""


def locked(files: list[File]) -> Iterator[str]:
    """Every dependency is locked."""
    texts = {file.name: file.text for file in files}
    project = tomllib.loads(texts["pyproject.toml"])["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"]]
    wanted += [one for name, extra in extras.items() if name not in HOSTS for one in extra]
    named = {re.split(r"[\s<>=!~;\[]", text)[0].lower().replace("_", "-") for text in wanted}
    found = set(re.findall(r"^([a-z0-9.-]+)==", texts["constraints.txt"], re.MULTILINE))
    for name in sorted(named - found - {"toolmd"}):  # the extra `all` names the others
        yield f"constraints.txt: {name} is not locked; run `make lock`"


def listed(files: list[File]) -> Iterator[str]:
    """The architecture names every package, the glossary every public class and seed."""
    texts = {file.name: file.text for file in files}
    packages = {
        path.stem
        for path in (ROOT / "framework/toolmd").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    for name in sorted(packages - {"__init__", "__main__"}):
        if f"`{name}`" not in texts["docs/explanation/architecture.md"]:
            yield f"docs/explanation/architecture.md: `{name}` is missing"
    glossary = texts["docs/explanation/glossary.md"]
    for name in toolmd.__all__:
        one = getattr(toolmd, name)
        if isinstance(one, type) and not issubclass(one, Exception) and f"`{name}`" not in glossary:
            yield f"docs/explanation/glossary.md: `{name}` is missing"
    explained = re.findall(r"^\| \*\*(.+?)\*\*", glossary, re.MULTILINE)
    for name, times in Counter(explained).items():
        if times > 1:
            yield f"docs/explanation/glossary.md: {name} is explained {times} times"


def arguments(_files: list[File]) -> Iterator[str]:
    """Public functions of several arguments describe each of them."""
    for module in (toolmd, config, database, hooks, importing, testing):
        for name, function in public(module):
            text = inspect.cleandoc(function.__doc__ or "")
            given = inspect.signature(function).parameters.keys() - {"self", "cls"}
            if len(given) < 2 or not text or text.startswith("Same as"):
                continue
            section = ARGS.search(text)
            told = set(re.findall(r"^    (\w+):", section[1] if section else "", re.MULTILINE))
            yield from (f"{name}: {one} is not described" for one in sorted(given - told))


def public(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield each public function of a module, and the public methods of its classes."""
    own = [name for name, one in vars(module).items() if _home(one) == module.__name__]
    for name in getattr(module, "__all__", own):
        one = getattr(module, name)
        if not _home(one).startswith("toolmd"):
            continue
        if inspect.isfunction(one):
            yield f"{module.__name__}.{name}", one
        for key, method in list(vars(one).items()) if inspect.isclass(one) else ():
            function = getattr(method, "__func__", method)
            if inspect.isfunction(function) and (key == "__init__" or key[0] != "_"):
                yield f"{module.__name__}.{name}.{key}", function


def _home(one: Any) -> str:
    return str(getattr(one, "__module__", ""))


ALL: tuple[Callable[[list[File]], Iterator[str]], ...] = (same_names, locked, listed, arguments)
"""The rules about the project as a whole."""


def read() -> Iterator[File]:
    """Yield each text file of the project."""
    for name in tracked():
        try:
            yield File(name, (ROOT / name).read_text("utf-8"))
        except (UnicodeDecodeError, FileNotFoundError):
            continue


def main() -> int:
    """Print the findings of all rules; 1 if there are any."""
    files = [*read()]
    found = [
        f"{file.name}:{line}: {text}"
        for file in files
        for rule in EACH
        for line, text in rule(file)
    ]
    found += [text for check in ALL for text in check(files)]
    print("\n".join(found) or f"{len(files)} files keep the rules of the house")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
