"""Committed files work on any machine: code contacts known hosts only, and no path is local."""

import re
import tomllib
from pathlib import Path

import pytest
from tracked import ROOT, tracked

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
"""The hosts that code, settings and tests may name; documents may link to any page over https."""

RESERVED = re.compile(r"(^|\.)(example(\.(com|org|net))?|test|invalid|localhost)$")
HOSTILE = {"tests/egress/test_hostile_urls.py", "tests/egress/test_ways_out.py"}
"""Addresses that must be denied."""

ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://(?:[^\s/@]*@)?\[?([\w.-]+)", re.IGNORECASE)
LINK = re.compile(r"\]\(https://[^)\s]+\)|<https://[^>\s]+>")
"""A link of a markdown page."""
LOCAL_PATH = re.compile(r"(?<![\w.~-])/(?:wor[k]|roo[t]|far[m]|tm[p])/\w")


def tracked_text() -> dict[str, str]:
    """Return every text file of the history."""
    texts = {}
    for name in tracked():
        try:
            texts[name] = (ROOT / name).read_text("utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue
    return texts


TEXTS = tracked_text()


def is_page(name: str) -> bool:
    return name.endswith(".md") and not name.endswith((".tool.md", ".skill.md"))


def test_an_address_names_a_known_host_or_an_example() -> None:
    strange = {
        (name, host)
        for name, text in TEXTS.items()
        if name not in HOSTILE
        for host in map(str.lower, ADDRESS.findall(LINK.sub("", text) if is_page(name) else text))
        if "." in host and host not in KNOWN_HOSTS and not RESERVED.search(host.rstrip("."))
    }

    assert not strange


def test_no_file_contains_a_path_of_one_machine() -> None:
    found = {
        f"{name}:{number}"
        for name, text in TEXTS.items()
        for number, line in enumerate(text.splitlines(), 1)
        if LOCAL_PATH.search(line)
    }

    assert not found


def test_the_lock_names_versions_and_hashes_only() -> None:
    lock = TEXTS["constraints.txt"]

    assert "://" not in lock
    assert not re.search(r"^\s*--(?!hash=)", lock, re.MULTILINE)


@pytest.mark.parametrize("lock", ["uv.lock", "pylock.toml", "poetry.lock"])
def test_no_second_lock_is_kept(lock: str) -> None:
    assert not [name for name in TEXTS if Path(name).name == lock]


def test_every_dependency_is_locked() -> None:
    project = tomllib.loads(TEXTS["pyproject.toml"])["project"]
    wanted = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        wanted += extra
    names = {re.split(r"[\s<>=!~;\[]", text)[0].lower().replace("_", "-") for text in wanted}

    locked = set(re.findall(r"^([a-z0-9.-]+)==", TEXTS["constraints.txt"], re.MULTILINE))
    assert names - {"toolmd"} <= locked  # the extra `all` names the others
