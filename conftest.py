"""What holds for every test: properties take their time, runs live in memory, Ctrl-C ends it."""

import gc
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from hypothesis import settings

# What lands is judged by the same examples each time; new ones are tried on people's machines.
# A test that needs more examples multiplies those of the profile, so that `quick` limits it too.
chosen = settings(deadline=None, derandomize="CI" in os.environ)
settings.register_profile("project", chosen, max_examples=40)
settings.register_profile("quick", chosen, max_examples=10)
settings.register_profile("deep", chosen, max_examples=300)
settings.load_profile("project")
os.environ.setdefault("TOOLMD_STORE", "memory")
# The plugins of this repository are installed here; a test loads one where it says so.
os.environ.setdefault("TOOLMD_LOAD_PLUGINS", "")
# A shell starts what it puts into the background deaf to Ctrl-C, and what that starts stays so.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection() -> None:
    """Collect the tests without the garbage collector: they are many, and all of them stay."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what was collected, each time it looks for more."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def limited_disk() -> Callable[[int], AbstractContextManager[None]]:
    """Let no file grow beyond so many bytes: a write beyond fails, as on a full disk."""
    resource = pytest.importorskip("resource", reason="this system bounds no file's size")

    @contextmanager
    def bounded(size: int) -> Iterator[None]:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return bounded


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of one Postgres for all test processes."""
    from tests.durability.postgres_server import shared_server

    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with shared_server(folder / "postgres") as url:
        yield url
