"""Bought answers in a folder and in a bucket: listed, cut by age, removed with their session."""

import time
from contextlib import closing
from pathlib import Path
from typing import Any

import fsspec
import pytest

from lethe_core.adapters.answers import AnswerFolder, AnswerStorage, RemoteAnswers, names_of
from lethe_core.adapters.housekeeping import Removed, prune_answers
from lethe_core.adapters.stores.sqlite import SqliteStore
from lethe_core.errors import StoreUnavailableError

DAY = 86400.0
HUGE = 10**12


def remote(url: str) -> RemoteAnswers:
    return RemoteAnswers(fsspec.filesystem(url.partition(":")[0]), url)


def names(storage: AnswerStorage, *prefix: str) -> list[str]:
    return sorted(answer.name for answer in storage.list(*prefix))


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with closing(SqliteStore(tmp_path / "graph.db")) as opened:
        yield opened


def test_a_bucket_lists_what_a_folder_lists(s3: Any, tmp_path: Path) -> None:
    files = {"llm-a-1-0": b"one", "llm-a-2-0": b"three", "deep/llm-b-1-0": b"", "of-others": b"x"}
    for name, content in files.items():
        s3.put(f"same/{name}", content)
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    for storage in (remote(s3.url("same")), AnswerFolder(tmp_path)):
        assert names(storage) == ["llm-a-1-0", "llm-a-2-0", "llm-b-1-0"]
        assert names(storage, names_of("a")) == ["llm-a-1-0", "llm-a-2-0"]
        assert {answer.name: answer.size for answer in storage.list()}["llm-a-2-0"] == 5
        assert all(abs(answer.used - time.time()) < 600 for answer in storage.list())
        for answer in storage.list(names_of("a")):
            storage.remove(answer)
            storage.remove(answer)  # once more: nothing happens
        assert names(storage) == ["llm-b-1-0"]
    assert sorted(s3.keys("same")) == ["deep/llm-b-1-0", "of-others"]


def test_old_answers_go_from_a_bucket_and_the_others_stay(s3: Any, store: Any) -> None:
    for name, days in (("llm-x-1-0", 40), ("llm-x-2-0", 10), ("of-others", 40)):
        s3.put(f"old/{name}", b"12345")
        s3.age(f"old/{name}", days=days)
    storage = remote(s3.url("old"))
    assert prune_answers(store, storage, before=time.time() - 30 * DAY, most_bytes=HUGE) == Removed(1, 5)
    assert s3.keys("old") == ["llm-x-2-0", "of-others"]
    s3.put("old/llm-y-1-0", b"1")  # in use, whatever the size
    assert prune_answers(store, storage, before=0.0, most_bytes=0) == Removed(1, 5)
    assert s3.keys("old") == ["llm-y-1-0", "of-others"]


def test_a_folder_that_nobody_has_written_to_holds_nothing(s3: Any, tmp_path: Path) -> None:
    assert names(remote(s3.url("empty"))) == []
    assert names(AnswerFolder(tmp_path / "empty")) == []


def test_a_storage_that_cannot_be_reached_is_named() -> None:
    closed = fsspec.filesystem(
        "s3",
        endpoint_url="http://127.0.0.1:9",
        key="k",
        secret="s",
        config_kwargs={"retries": {"max_attempts": 1}, "connect_timeout": 2},
    )
    with pytest.raises(StoreUnavailableError, match="s3://lethe-tests/gone cannot be reached"):
        RemoteAnswers(closed, "s3://lethe-tests/gone").list()


def test_file_systems_that_tell_the_time_of_a_change_in_other_words_are_understood(tmp_path: Path) -> None:
    (tmp_path / "llm-a-1-0").write_bytes(b"12")
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/answers/llm-a-1-0", b"12")
    for storage in (
        RemoteAnswers(fsspec.filesystem("file"), str(tmp_path)),
        RemoteAnswers(memory, "memory://answers"),
    ):
        (answer,) = storage.list()
        assert (answer.name, answer.size) == ("llm-a-1-0", 2)
        assert abs(answer.used - time.time()) < 600
