"""Walking folders: every file once, none from outside, everything left out is named."""

import contextlib
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_core.adapters.sources.folder import WalkConfig, escaped, root_names, walk
from lethe_core.errors import CorpusError


def addresses(*roots: Path) -> list[str]:
    return [file.address for file in walk(roots).files]


def reasons(*roots: Path) -> dict[str, str]:
    return {skipped.source: skipped.reason for skipped in walk(roots).skipped}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    (folder / "sub").mkdir(parents=True)
    (folder / "b.md").write_text("b")
    (folder / "a.md").write_text("a")
    (folder / "sub" / "c.md").write_text("c")
    return folder


def test_files_come_in_the_order_of_their_addresses(corpus: Path) -> None:
    assert addresses(corpus) == ["corpus/a.md", "corpus/b.md", "corpus/sub/c.md"]


def test_hidden_files_are_counted_and_not_read(corpus: Path) -> None:
    (corpus / ".git").mkdir()
    (corpus / ".git" / "config").write_text("x")
    (corpus / ".secret.md").write_text("x")
    found = walk([corpus])
    assert found.hidden == 2
    assert not any("secret" in file.address or "git" in file.address for file in found.files)


def test_a_link_that_leaves_the_folder_is_named_and_not_read(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("secret")
    (corpus / "link.md").symlink_to(tmp_path / "outside.md")
    (corpus / "up").symlink_to(tmp_path)
    assert addresses(corpus) == ["corpus/a.md", "corpus/b.md", "corpus/sub/c.md"]
    assert reasons(corpus) == {
        "corpus/link.md": "a link that leaves the folder",
        "corpus/up": "a link that leaves the folder",
    }


def test_loops_of_links_end_and_no_file_is_listed_twice(corpus: Path) -> None:
    (corpus / "sub" / "again").symlink_to(corpus)
    (corpus / "self").symlink_to(corpus / "self")
    (corpus / "ping").symlink_to(corpus / "pong")
    (corpus / "pong").symlink_to(corpus / "ping")
    assert addresses(corpus) == ["corpus/a.md", "corpus/b.md", "corpus/sub/c.md"]
    assert set(reasons(corpus)) == {"corpus/self", "corpus/ping", "corpus/pong"}


def test_a_link_inside_the_folder_leaves_its_target_under_its_own_name(corpus: Path) -> None:
    (corpus / "0.md").symlink_to(corpus / "b.md")
    assert addresses(corpus) == ["corpus/a.md", "corpus/b.md", "corpus/sub/c.md"]
    assert reasons(corpus) == {}


def test_a_link_to_a_hidden_file_does_not_show_it(corpus: Path) -> None:
    (corpus / ".env").write_text("KEY=1")
    (corpus / "env.txt").symlink_to(corpus / ".env")
    assert reasons(corpus) == {"corpus/env.txt": "a link to a hidden file"}


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system refuses names that are no UTF-8")
def test_names_that_are_no_utf8_are_escaped_and_told_apart(corpus: Path) -> None:
    for name in (b"caf\xe9.md", b"caf%E9.md", b"line\nbreak.md", "café.md".encode()):
        (corpus / os.fsdecode(name)).write_text("x")
    found = addresses(corpus)
    assert {"corpus/caf%E9.md", "corpus/caf%25E9.md", "corpus/line%0Abreak.md", "corpus/café.md"} <= set(
        found
    )
    assert len(set(found)) == len(found)


@given(names=st.lists(st.binary(min_size=1, max_size=8), unique=True, max_size=10))
def test_different_names_have_different_printable_addresses(names: list[bytes]) -> None:
    shown = [escaped(name) for name in names]
    assert len(set(shown)) == len(names)
    assert all(text.isprintable() and text.encode("utf-8") for text in shown)


def test_what_vanishes_between_the_listing_and_the_look_at_it_is_named(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The instant between the two cannot be met on demand: the listing itself removes what it has listed."""
    (corpus / "late").mkdir()
    (corpus / "late" / "a.md").write_text("a")
    (corpus / "later").mkdir()
    list_folder = os.scandir

    def scandir(folder: Any) -> Any:
        if isinstance(folder, int):  # rmtree's own
            return list_folder(folder)
        listing = list_folder(folder)
        entries = list(listing)
        listing.close()
        if Path(folder) == corpus:
            shutil.rmtree(corpus / "later")
        if Path(folder).name == "late":
            (corpus / "late" / "a.md").unlink()
        return contextlib.nullcontext(iter(entries))

    monkeypatch.setattr("os.scandir", scandir)
    gone = "gone while the folder was read"
    assert reasons(corpus) == {"corpus/late/a.md": gone, "corpus/later": gone}


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_folder_is_named(corpus: Path) -> None:
    (corpus / "sub").chmod(0)
    try:
        assert reasons(corpus) == {"corpus/sub": "folder not readable: permission denied"}
    finally:
        (corpus / "sub").chmod(0o755)


def test_what_is_no_regular_file_is_named_and_never_opened(corpus: Path) -> None:
    os.mkfifo(corpus / "pipe.md")
    assert reasons(corpus) == {"corpus/pipe.md": "no regular file"}


def test_a_file_above_the_limit_is_named_with_its_size(corpus: Path) -> None:
    with (corpus / "big.txt").open("wb") as file:
        file.truncate(60 * 1024 * 1024)
    assert reasons(corpus) == {"corpus/big.txt": "60 MB; the limit is 50 MB a file"}


def test_the_walk_stops_at_the_most_files_and_says_so(corpus: Path) -> None:
    found = walk([corpus], WalkConfig(max_files=2))
    assert [file.address for file in found.files] == ["corpus/a.md", "corpus/b.md"]
    assert "the limit is 2 files" in found.skipped[0].reason


def test_two_roots_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    for name in ("one/docs", "two/docs", "three"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a.md").write_text("x")
    found = addresses(tmp_path / "one/docs", tmp_path / "two/docs", tmp_path / "three")
    assert found == ["one-docs/a.md", "three/a.md", "two-docs/a.md"]


@given(
    st.lists(
        st.lists(st.sampled_from(["a", "b", "a-b"]), min_size=1, max_size=3), unique_by=tuple, max_size=5
    )
)
def test_names_of_roots_are_always_different(parts: list[list[str]]) -> None:
    names = root_names([Path("/", *own) for own in parts])
    assert len(set(names)) == len(parts)


def test_the_same_root_twice_is_read_once(corpus: Path) -> None:
    assert addresses(corpus, corpus / "sub" / "..") == addresses(corpus)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: None, r"not found.*nowhere"),
        (lambda path: path.write_text("x"), r"is a file, not a folder.*pass the folder"),
        (lambda path: path.mkdir(), r"no file in the corpus folder.*put documents there"),
        (lambda path: path.symlink_to(path), r"cannot be opened|not found"),
    ],
)
def test_an_unusable_root_is_an_error_that_says_what_to_do(tmp_path: Path, make, message) -> None:  # type: ignore[no-untyped-def]
    make(tmp_path / "nowhere")
    with pytest.raises(CorpusError, match=message):
        walk([tmp_path / "nowhere"])


def test_a_root_inside_another_is_refused(corpus: Path) -> None:
    with pytest.raises(CorpusError, match="lies inside"):
        walk([corpus, corpus / "sub"])
