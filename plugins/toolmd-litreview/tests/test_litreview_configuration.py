"""The settings of the environment, and their errors."""

import pytest

from toolmd import ConfigError
from toolmd.testing import FakeClock, memory_workspace
from toolmd_litreview.configuration import NCBI, read
from toolmd_litreview.plugin import Litreview


def test_an_empty_environment_allows_only_ncbi():
    known = read({})
    assert (known.ncbi.url, known.ncbi.tool) == (NCBI, "toolmd-litreview")
    assert (known.model, known.embeddings) == (None, None)


def test_a_model_without_embeddings_compares_by_words():
    known = read({"OPENAI_BASE_URL": "http://h", "LITREVIEW_EMBEDDINGS_MODEL": "words"})
    assert known.embeddings is None
    with pytest.raises(ConfigError, match="LITREVIEW_EMBEDDINGS_SHORTEN: must be true or false"):
        read({"LITREVIEW_EMBEDDINGS_SHORTEN": "perhaps"})


def test_a_key_alone_sends_no_request():
    assert read({"OPENAI_API_KEY": "k", "LITREVIEW_MODEL": "m"}).model is None


def test_a_key_is_not_shown():
    known = read(
        {"OPENAI_BASE_URL": "http://h", "OPENAI_API_KEY": "hidden", "NCBI_API_KEY": "hidden"}
    )
    assert "hidden" not in repr(known)


@pytest.mark.parametrize(
    "url",
    ["h/v1", "ftp://h", "http://", "http://u:p@h", "http://h?x=1", "http://h#x", "http://h:99999",
     "http://h:x", "file:///etc/passwd", "http://h\n/v1", "http://[::1"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["LITREVIEW_NCBI_URL", "LITREVIEW_MODEL_URL", "OPENAI_BASE_URL"])
def test_an_invalid_url_is_an_error_with_its_variable(name, url):
    with pytest.raises(ConfigError, match=name):
        read({name: url})


def test_a_mistake_in_the_environment_fails_the_call_and_nothing_else():
    plugin = Litreview({"LITREVIEW_NCBI_URL": "nowhere"}, FakeClock())
    with memory_workspace({"none.txt": ""}, plugins={"litreview": plugin}) as workspace:
        assert workspace.diagnostics == ()
        result = workspace.call_sync("search_pubmed", {"query": "x", "expand_mode": "ripple"})
        assert not result.success
        assert "LITREVIEW_NCBI_URL" in result.error.message
