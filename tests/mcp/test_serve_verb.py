"""The messages of `toolmd serve` before it serves."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests import warm_python


def serve(project: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return warm_python.run(
        [sys.executable, "-m", "toolmd", "serve", "--project", str(project), *words],
        capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, "TOOLMD_LOAD_PLUGINS": "", "NO_COLOR": "1", **variables},
    )  # fmt: skip


def test_without_the_sdk_the_remedy_is_named(project: Path) -> None:
    code = (
        "import sys; sys.modules['mcp'] = None\n"
        "from toolmd._cli.main import main\n"
        f"sys.exit(main(['serve', '--project', {str(project)!r}]))"
    )
    done = warm_python.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert "pip install 'toolmd[mcp]'" in done.stderr


def test_a_short_token_is_rejected(project: Path) -> None:
    done = serve(project, "--transport", "http", "--port", "0", TOOLMD_TOKEN="short")

    assert done.returncode == 2
    assert "at least 16" in done.stderr


def test_a_user_next_to_tokens_of_the_settings_is_an_error(project: Path) -> None:
    text = f'[[serve.tokens]]\nsha256 = "{"ab" * 32}"\nuser = "ana"\n'
    (project / "toolmd.toml").write_text(text)

    done = serve(project, "--transport", "http", "--port", "0", "--user", "eve")

    assert done.returncode == 2
    assert "serve.tokens" in done.stderr


def test_an_address_in_use_is_reported(project: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        done = serve(project, "--transport", "http", "--port", str(port))

    assert done.returncode == 5
    assert "--port 0" in done.stderr


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom toolmd._cli.main import main\nmain(['serve', '--help'])\n"
        "print(sorted({'mcp', 'starlette', 'uvicorn', 'httpx'} & set(sys.modules)))"
    )
    done = warm_python.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "variables", "remedy"),
    [
        (["--transport", "http", "--workers", "3"], {"TOOLMD_STORE": "memory"}, 'store = "sqlite"'),
        (["--transport", "stdio", "--workers", "2"], {}, "--transport http"),
        (["--transport", "http", "--workers", "0"], {}, "--workers"),
    ],
)
def test_a_number_of_workers_that_can_not_be_is_rejected(
    project: Path, words: list[str], variables: dict[str, str], remedy: str
) -> None:
    done = serve(project, *words, **variables)

    assert done.returncode == 2
    assert remedy in done.stderr
