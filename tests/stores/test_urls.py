"""Store URLs."""

from pathlib import Path

import pytest

from lethe_core.adapters.stores import absolute_url, open_store, sqlite_url
from lethe_core.errors import ConfigError


@pytest.mark.parametrize("name", ["graph.db", "with space.db", "100%25.db", "q?mode=ro#x.db", "ü.db"])
def test_a_path_is_taken_as_it_stands(tmp_path, name):
    url = sqlite_url(tmp_path / name)
    store = open_store(url)
    assert store.url == url
    store.close()
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("url", ["", "graph.db", "postgres://host/db", "sqlite:/x", "sqlite://host/x", "://"])
def test_an_unknown_kind_is_refused_with_what_there_is(url):
    with pytest.raises(ConfigError, match="sqlite:///path"):
        open_store(url)


@pytest.mark.parametrize(
    "url", ["sqlite:///", "sqlite:///graph.db", "sqlite:///./graph.db", "sqlite:///~/graph.db"]
)
def test_a_relative_path_is_refused(url):
    with pytest.raises(ConfigError, match="not absolute"):
        open_store(url)


@pytest.mark.parametrize("name", [":memory:", "/:memory:", "file::memory:?cache=shared"])
def test_a_store_in_memory_is_refused_and_makes_no_file(tmp_path, name):
    for use in (open_store, lambda url: absolute_url(url, tmp_path)):
        with pytest.raises(ConfigError, match="in memory"):
            use(f"sqlite:///{name}")
    assert not list(tmp_path.iterdir())


def test_a_relative_path_is_made_absolute_against_a_folder():
    base = Path("/work space")
    assert absolute_url("sqlite:///data/graph.db", base) == "sqlite:////work space/data/graph.db"
    assert absolute_url("sqlite:////data/graph.db", base) == "sqlite:////data/graph.db"
    assert absolute_url("sqlite:///~/graph.db", base) == f"sqlite:///{Path.home()}/graph.db"
    assert absolute_url("other://host", base) == "other://host"
