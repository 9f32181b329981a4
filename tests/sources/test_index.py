"""The index: read once, kept, renewed where something changed, and never in the way."""

import errno
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lethe_core.adapters.sources.index import FolderIndex, open_index
from lethe_core.errors import CorpusError, StoreUnavailableError

Corpus = Callable[..., Path]
FILES = {
    "a.md": "# Mill\n\nThe mill closed in 1987.",
    "sub/b.txt": "The bridge was opened.",
    "c.csv": "a,b\n1,2\n",
}


class Read:
    """A progress callback that remembers what was read."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.last = (0, 0)

    def __call__(self, done: int, total: int, name: str) -> None:
        self.last = (done, total)
        if name:
            self.names.append(name)


def opened(root: Path, home: Path) -> tuple[list[str], list[tuple[str, str]]]:
    """What an opening reads, and what it then holds."""
    read = Read()
    index = open_index([root], home, progress=read)
    held = [(source.address, source.row.title) for source in index.sources]
    index.close()
    return read.names, held


def index_file(home: Path) -> Path:
    (path,) = (home / "index").glob("*.sqlite")
    return path


def test_a_second_opening_reads_nothing(corpus: Corpus, tmp_path: Path) -> None:
    root = corpus(FILES)
    names, held = opened(root, tmp_path / "home")
    assert names == ["corpus/a.md", "corpus/c.csv", "corpus/sub/b.txt"]
    assert opened(root, tmp_path / "home") == ([], held)


def test_progress_ends_with_all_done(corpus: Corpus, tmp_path: Path) -> None:
    read = Read()
    open_index([corpus(FILES)], tmp_path / "home", progress=read).close()
    assert read.last == (3, 3)


def test_what_vanishes_while_the_folder_is_read_is_named(corpus: Corpus, tmp_path: Path) -> None:
    root = corpus(FILES)

    def vanish(done: int, total: int, name: str) -> None:  # noqa: ARG001 (as progress is called)
        shutil.rmtree(root / "sub", ignore_errors=True)
        (root / "c.csv").unlink(missing_ok=True)

    index = open_index([root], tmp_path / "home", progress=vanish)
    index.close()
    assert [(entry.source, entry.reason) for entry in index.skipped] == [
        ("corpus/c.csv", "gone while the folder was read"),
        ("corpus/sub/b.txt", "gone while the folder was read"),
    ]
    assert [source.address for source in index.sources] == ["corpus/a.md"]


def test_only_what_changed_is_read_again_and_what_is_gone_goes(corpus: Corpus, tmp_path: Path) -> None:
    root = corpus(FILES)
    opened(root, tmp_path / "home")
    (root / "a.md").write_text("# Weir\n\nThe weir stands.")
    (root / "c.csv").unlink()
    (root / "d.md").write_text("# New\n\nText.")
    names, held = opened(root, tmp_path / "home")
    assert names == ["corpus/a.md", "corpus/d.md"]
    assert held == [("corpus/a.md", "Weir"), ("corpus/d.md", "New"), ("corpus/sub/b.txt", "b")]


def test_a_changed_time_alone_is_enough_to_read_again(corpus: Corpus, tmp_path: Path) -> None:
    root = corpus(FILES)
    opened(root, tmp_path / "home")
    os.utime(root / "a.md", (1, 1))
    assert opened(root, tmp_path / "home")[0] == ["corpus/a.md"]


def test_what_cannot_be_read_is_named_and_not_tried_again(corpus: Corpus, tmp_path: Path) -> None:
    root = corpus(FILES)
    (root / "junk.pdf").write_bytes(b"%PDF-1.4 nothing")
    (root / "empty.md").write_text("")
    for read in (["corpus/junk.pdf", "corpus/empty.md"], []):
        progress = Read()
        index = open_index([root], tmp_path / "home", progress=progress)
        assert set(read) <= set(progress.names)
        reasons = {skipped.source: skipped.reason for skipped in index.skipped}
        assert reasons["corpus/empty.md"] == "an empty file"
        assert "PDF" in reasons["corpus/junk.pdf"]
        index.close()


def test_a_page_comes_back_as_it_was_read(corpus: Corpus, tmp_path: Path) -> None:
    root = corpus(FILES)
    for _ in range(2):
        index = open_index([root], tmp_path / "home")
        page, chunks = index.page(index.sources[0])
        assert (page.address, page.title, page.text) == ("corpus/a.md", "Mill", FILES["a.md"])
        assert "".join(page.text[slice(*chunk.span)] for chunk in chunks) == page.text
        index.close()


@pytest.mark.parametrize("damage", ["junk", "cut", "older", "middle"])
def test_a_damaged_or_outdated_index_is_built_again_and_it_says_so(
    corpus: Corpus, tmp_path: Path, damage: str
) -> None:
    root, home = (
        corpus(FILES | {f"f{n}.md": f"# File {n}\n\n" + "word " * 900 for n in range(30)}),
        tmp_path / "home",
    )
    _, held = opened(root, home)
    path = index_file(home)
    if damage == "junk":
        path.write_bytes(b"no database at all" * 100)
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif damage == "middle":
        data = bytearray(path.read_bytes())
        data[4096 : len(data) - 4096] = os.urandom(len(data) - 8192)
        path.write_bytes(data)
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE meta SET value = '0'")
        connection.close()
    index = open_index([root], home)
    assert [(source.address, source.row.title) for source in index.sources] == held
    assert index.notes
    assert "built anew" in index.notes[0]
    index.close()


def test_a_damaged_word_index_is_built_again(corpus: Corpus, tmp_path: Path) -> None:
    root, home = corpus(FILES), tmp_path / "home"
    opened(root, home)
    (folder,) = (home / "index").glob("words-*")
    for file in folder.iterdir():
        file.write_bytes(b"junk")
    index = open_index([root], home)
    assert index.lexical.scores(["mill"]).argmax() == 0
    index.close()


def test_a_home_that_cannot_be_written_is_an_error_that_says_what_to_do(
    corpus: Corpus, tmp_path: Path
) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(StoreUnavailableError, match="index of the corpus"):
        open_index([corpus(FILES)], tmp_path / "home")


def test_a_full_disk_is_an_error_that_says_what_to_do(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = sqlite3.connect

    def tiny(*arguments: object, **options: object) -> sqlite3.Connection:
        connection: sqlite3.Connection = original(*arguments, **options)  # type: ignore[call-overload]
        connection.execute("PRAGMA max_page_count = 8")
        return connection

    monkeypatch.setattr(sqlite3, "connect", tiny)
    root = corpus({f"{n}.md": os.urandom(3000).hex() for n in range(20)})
    with pytest.raises(StoreUnavailableError, match=r"the disk is full.*LETHE_HOME"):
        open_index([root], tmp_path / "home")


def test_two_openings_at_once_give_the_same_index(corpus: Corpus, tmp_path: Path) -> None:
    root = corpus({f"{n}.md": f"# File {n}\n\nText of file {n}." for n in range(60)})
    found: list[FolderIndex | Exception] = []

    def run() -> None:
        try:
            found.append(open_index([root], tmp_path / "home"))
        except Exception as error:  # noqa: BLE001 (shown by the assertion below)
            found.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    held = [index.sources if isinstance(index, FolderIndex) else index for index in found]
    assert all(sources == held[0] for sources in held)
    for index in found:
        if isinstance(index, FolderIndex):
            index.close()


KILLED = """
import os, signal, sys
from pathlib import Path
from lethe_core.adapters.sources.index import IndexConfig, open_index
read = []
def progress(done, total, name):
    read.append(name)
    if len(read) == 13:
        os.kill(os.getpid(), signal.SIGKILL)
open_index([Path(sys.argv[1])], Path(sys.argv[2]), progress=progress, config=IndexConfig(batch=5))
"""


def test_a_kill_in_the_middle_loses_at_most_the_last_batch(corpus: Corpus, tmp_path: Path) -> None:
    root = corpus({f"{n:02}.md": f"# File {n}\n\nText of file {n}." for n in range(20)})
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", KILLED, str(root), str(tmp_path / "home")]
    assert subprocess.run(command, env=environment, check=False).returncode == -signal.SIGKILL
    names, held = opened(root, tmp_path / "home")
    assert names == [f"corpus/{n:02}.md" for n in range(10, 20)]
    assert len(held) == 20


def test_nothing_readable_is_an_error_that_names_files_and_reasons(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"nothing readable.*corpus/a\.md: an empty file.*are read"):
        open_index([corpus({"a.md": "", "b.md": " "})], tmp_path / "home")


def test_two_roots_are_one_corpus(corpus: Corpus, tmp_path: Path) -> None:
    one, two = corpus({"a.md": "# One"}, "one/docs"), corpus({"a.md": "# Two"}, "two/docs")
    index = open_index([one, two], tmp_path / "home")
    assert [source.address for source in index.sources] == ["one-docs/a.md", "two-docs/a.md"]
    assert [index.page(source)[0].title for source in index.sources] == ["One", "Two"]
    index.close()


def test_a_file_that_could_not_be_opened_is_tried_again_though_nothing_of_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "corpus"
    root.mkdir()
    (root / "a.md").write_text("# A\n\nThe mill has two wheels.")
    (root / "b.md").write_text("# B\n\nThe weir is made of oak.")
    opened = os.open

    def refused(path: object, *rest: int) -> int:
        if str(path).endswith("b.md"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as closed:
        closed.setattr("lethe_core.adapters.sources.reading.os.open", refused)
        with closing(open_index([root], tmp_path / "home")) as index:
            assert [skip.source for skip in index.skipped] == ["corpus/b.md"]
    with closing(open_index([root], tmp_path / "home")) as index:
        assert index.skipped == ()
        assert len(index.sources) == 2
