"""Searching folders: what is new and what is known, nothing for nothing, editions, files that change."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lethe_core.adapters.sources.search import FolderSearch, SearchConfig
from lethe_core.adapters.sources.vectors import VectorConfig
from lethe_core.control.embedding import Embedder

Corpus = Callable[..., Path]
Search = Callable[..., FolderSearch]
FOREVER = float("inf")
FILES = {
    "bells.md": "# Bells\n\nThe bourdon weighs 2,310 kg and was cast in 1931.",
    "bridge.md": "# Bridge\n\nThe swing bridge over the estuary was opened in 1902.",
    "fees.md": "# Fees\n\nA visiting player is paid a fee of 145 pounds for a recital.",
    "mill.md": "# Mill\n\nThe water mill closed after the flood of 1987.",
}


@pytest.fixture
def search(corpus: Corpus, tmp_path: Path, embedder: Embedder) -> Iterator[Search]:
    opened: list[FolderSearch] = []

    def make(files: dict[str, str], config: SearchConfig | None = None) -> FolderSearch:
        root = corpus(files)
        opened.append(FolderSearch.open([root], tmp_path / "home", embedder, config=config))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def found(outcome: object) -> list[str]:
    return [page.page.address for page in outcome.new]  # type: ignore[attr-defined]


def test_the_page_that_answers_comes_first_with_its_hit(search: Search) -> None:
    outcome = search(FILES).search("When did the water mill close?", known=(), deadline=FOREVER)
    page = outcome.new[0]
    assert page.page.address == "corpus/mill.md"
    assert "1987" in page.chunks[page.hits[0]].text
    assert page.page.domain == "corpus/mill.md"
    assert len(page.fingerprint) == 64


@pytest.mark.parametrize(
    "query", ["", "   ", "???", "the of and", "quantum chromodynamics lattice", "descale espresso"]
)
def test_a_query_without_a_match_brings_nothing(search: Search, query: str) -> None:
    outcome = search(FILES).search(query, known=(), deadline=FOREVER)
    assert (outcome.new, outcome.known) == ((), ())


def test_a_known_page_is_given_as_known_with_its_hits_alone(search: Search) -> None:
    outcome = search(FILES).search("water mill flood", known={"corpus/mill.md"}, deadline=FOREVER)
    assert "corpus/mill.md" not in found(outcome)
    (known,) = outcome.known
    assert [known.chunks[hit].text for hit in known.hits]
    assert len(known.hits) == len(known.chunks)


def test_as_many_new_pages_as_configured_and_of_the_known_only_those_ranked_above_the_last(
    search: Search,
) -> None:
    one = search({f"{n:02}.md": f"# Weir {n}\n\nThe weir {'weir ' * (20 - n)} stands." for n in range(20)})
    ranking = found(one.search("weir", known=(), deadline=FOREVER))
    assert len(ranking) == 8
    behind = one.search("weir", known=set(ranking), deadline=FOREVER)
    outcome = one.search("weir", known={ranking[2], found(behind)[-1]}, deadline=FOREVER)
    assert found(outcome) == [*ranking[:2], *ranking[3:], found(behind)[0]]
    assert [page.page.address for page in outcome.known] == [ranking[2]]


def test_the_same_search_gives_the_same_answer_now_and_after_reopening(search: Search) -> None:
    files = {f"{n}.md": "# Weir\n\nThe weir stands by the mill." for n in range(12)}
    first = search(files)
    outcome = first.search("weir mill", known=(), deadline=FOREVER)
    assert first.search("weir mill", known=(), deadline=FOREVER) == outcome
    assert search({}).search("weir mill", known=(), deadline=FOREVER) == outcome
    assert found(outcome) == sorted(found(outcome))  # all alike: by address


def test_a_second_run_embeds_nothing(search: Search, embedder: Embedder) -> None:
    search(FILES).search("mill", known=(), deadline=FOREVER)
    assert embedder.embedded  # type: ignore[attr-defined]
    embedder.embedded.clear()  # type: ignore[attr-defined]
    search({}).search("mill", known=(), deadline=FOREVER)
    assert embedder.embedded == []  # type: ignore[attr-defined]


def test_of_a_large_corpus_only_what_shares_a_word_is_embedded(search: Search, embedder: Embedder) -> None:
    config = SearchConfig(vectors=VectorConfig(embed_all=1))
    outcome = search(FILES, config).search("water mill", known=(), deadline=FOREVER)
    assert found(outcome) == ["corpus/mill.md"]
    assert all("mill" in text for text in embedder.embedded)  # type: ignore[attr-defined]


def test_after_the_deadline_the_words_alone_decide(search: Search, embedder: Embedder) -> None:
    outcome = search(FILES).search("water mill", known=(), deadline=time.monotonic() - 1)
    assert found(outcome) == ["corpus/mill.md"]
    assert embedder.embedded == []  # type: ignore[attr-defined]


def test_a_long_page_is_cut_to_its_best_chunks_and_their_neighbours(search: Search) -> None:
    paragraphs = [
        f"Paragraph {n} tells of the {'weir' if n in (30, 70) else 'meadow'} at length. " * 6
        for n in range(90)
    ]
    config = SearchConfig(best_chunks=2)
    outcome = search({"long.md": "# Long\n\n" + "\n\n".join(paragraphs)}, config).search(
        "weir", known=(), deadline=FOREVER
    )
    (page,) = outcome.new
    texts = [chunk.text for chunk in page.chunks]
    assert len(texts) == 6
    assert ["weir" in text for text in texts] == [False, True, False, False, True, False]
    assert {texts[hit] for hit in page.hits[:2]} == {texts[1], texts[4]}


RULES = (
    "Cars run at half speed above {} metres a second and stop above {} metres a second at the mast. "
    "They bind every attendant of the railway, whatever the season."
)


def test_finding_an_older_edition_brings_the_newest_beyond_the_limit(search: Search) -> None:
    files = {
        "rules/wind-rules-v1.md": f"# Wind rules\n\n{RULES.format(12, 17)} Anemometer Pelloe.",
        "rules/wind-rules-v2.md": f"# Wind rules\n\n{RULES.format(11, 15)}",
    }
    one = search(files | FILES, SearchConfig(documents=1))
    outcome = one.search("wind rules anemometer Pelloe", known=(), deadline=FOREVER)
    assert found(outcome) == ["corpus/rules/wind-rules-v1.md", "corpus/rules/wind-rules-v2.md"]
    old, new = outcome.new
    assert (old.edition.older, new.edition.older) == (True, False)
    assert old.edition.newest == new.page.address
    assert old.page.domain == new.page.domain == old.edition.series
    again = one.search("wind rules anemometer Pelloe", known=set(found(outcome)), deadline=FOREVER)
    assert not any("rules" in address for address in found(again))


def test_editions_with_different_titles_are_told_by_their_texts(search: Search) -> None:
    text = "\n\n".join(f"Rule {n}: {RULES.format(n, n + 4)}" for n in range(9))
    files = {
        "rules/wind-rules-v1.md": f"# Marrowick harbour council wind rules for all attendants\n\n{text}",
        "rules/wind-rules-v2.md": f"# Gale\n\n{text}",
    }
    editions = search(files | FILES).editions()
    assert [editions[f"corpus/rules/wind-rules-v{n}.md"].older for n in (1, 2)] == [True, False]


def test_the_time_of_modification_makes_no_file_the_newer_edition(search: Search, corpus: Corpus) -> None:
    text = "The ferry to the island costs 4 pounds."
    root = corpus({"rules/ferry-rules.md": f"# Ferry rules\n\n{text}", "rules/ferry-rules.txt": text})
    os.utime(root / "rules" / "ferry-rules.md", (10**9, 10**9))
    outcome = search({}).search("ferry island costs pounds", known=(), deadline=FOREVER)
    assert {page.page.date_source for page in outcome.new} == {"modified"}
    assert [page.edition.older for page in outcome.new] == [False] * len(outcome.new)


def test_what_is_found_of_an_edition_known_already_still_brings_the_newest(search: Search) -> None:
    files = {
        "rules/wind-rules-v1.md": f"# Wind rules\n\n{RULES.format(12, 17)} Anemometer Pelloe.",
        "rules/wind-rules-v2.md": f"# Wind rules\n\n{RULES.format(11, 15)}",
    }
    outcome = search(files | FILES).search(
        "anemometer Pelloe", known={"corpus/rules/wind-rules-v1.md"}, deadline=FOREVER
    )
    assert "corpus/rules/wind-rules-v2.md" in found(outcome)


def test_a_file_that_vanished_is_named_and_the_next_takes_its_place(search: Search, tmp_path: Path) -> None:
    one = search(FILES | {"mill2.md": "# Mill\n\nAnother water mill."}, SearchConfig(documents=1))
    first = found(one.search("water mill", known=(), deadline=FOREVER))[0]
    (tmp_path / first).unlink()
    outcome = one.search("water mill", known=(), deadline=FOREVER)
    assert len(outcome.new) == 1
    assert found(outcome) != [first]
    assert [(s.source, s.reason) for s in outcome.skipped] == [(first, "gone since the folder was read")]


def test_a_file_that_changed_is_read_again(search: Search, tmp_path: Path) -> None:
    one = search(FILES)
    (tmp_path / "corpus" / "mill.md").write_text("# Mill\n\nThe water mill reopened in 2024 after repairs.")
    page = one.search("water mill", known=(), deadline=FOREVER).new[0]
    assert "2024" in page.page.text
    assert "2024" in page.chunks[page.hits[0]].text


def test_a_file_that_became_junk_is_named(search: Search, tmp_path: Path) -> None:
    one = search(FILES)
    (tmp_path / "corpus" / "mill.md").write_bytes(bytes(range(256)) * 8)
    outcome = one.search("water mill", known=(), deadline=FOREVER)
    assert [skipped.source for skipped in outcome.skipped] == ["corpus/mill.md"]


def test_what_the_folder_left_out_is_named(search: Search, corpus: Corpus) -> None:
    (corpus(FILES) / "junk.pdf").write_bytes(b"%PDF-1.4")
    assert [skipped.source for skipped in search({}).skipped] == ["corpus/junk.pdf"]


def test_text_of_a_document_never_becomes_a_query_or_a_path(search: Search) -> None:
    hostile = "../../etc/passwd' OR 1=1; DROP TABLE files; -- % {query} \ud83d\ude00".encode(
        "utf-16", "surrogatepass"
    )
    text = hostile.decode("utf-16")
    one = search({"x.md": f"# {text}\n\nThe weir."} | FILES)
    assert found(one.search(text, known=(), deadline=FOREVER))[0] == "corpus/x.md"
    assert found(one.search("water mill", known=(), deadline=FOREVER))[0] == "corpus/mill.md"


def fingerprints(search: FolderSearch) -> dict[str, str]:
    return {source.address: source.row.fingerprint for source in search.index.sources}


def test_pages_are_looked_at_again_unchanged_changed_moved_and_gone(search: Search, corpus: Corpus) -> None:
    root = corpus(FILES)
    before = search(FILES)
    known = fingerprints(before) | {"https://example.org/page": "0" * 64}
    (root / "mill.md").write_text("# Mill\n\nThe water mill closed after the flood of 1988.", "utf-8")
    (root / "bells.md").unlink()
    (root / "more").mkdir()
    (root / "fees.md").rename(root / "more" / "prices.md")
    now = search({})
    seen = {page.known: page for page in now.revisit(known, query="When did the water mill close?")}
    assert sorted(seen) == sorted(fingerprints(before))
    assert (seen["corpus/bridge.md"].address, seen["corpus/bridge.md"].changed) == ("corpus/bridge.md", None)
    assert (seen["corpus/fees.md"].address, seen["corpus/fees.md"].changed) == ("corpus/more/prices.md", None)
    assert (seen["corpus/bells.md"].address, seen["corpus/bells.md"].reason) == ("", "it is no longer there")
    changed = seen["corpus/mill.md"].changed
    assert changed is not None
    assert seen["corpus/mill.md"].address == "corpus/mill.md"
    assert "1988" in changed.chunks[changed.hits[0]].text
    assert changed.fingerprint != known["corpus/mill.md"]
    assert now.state != before.state


def test_of_a_long_page_that_changed_all_chunks_are_told_and_the_best_are_to_be_taken(
    search: Search,
) -> None:
    paragraphs = [f"Paragraph {n} is about bricks. " + "Clay is fired in a kiln. " * 18 for n in range(9)]
    paragraphs[7] = "The water mill closed after the flood of 1987. " + "It ground rye for the town. " * 15
    folder = search(
        {"long.md": "# Long\n\n" + "\n\n".join(paragraphs)}, SearchConfig(whole_chunks=4, best_chunks=1)
    )
    (page,) = folder.revisit({"corpus/long.md": "0" * 64}, query="When did the water mill close?")
    assert page.changed is not None
    assert len(page.changed.chunks) == folder.index.chunk_count > 4
    taken = [page.changed.chunks[hit].text for hit in page.changed.hits]
    assert any("1987" in text for text in taken)
    assert 0 < len(taken) < len(page.changed.chunks)


def test_the_state_is_told_by_content_and_not_by_times(search: Search, corpus: Corpus) -> None:
    root = corpus(FILES)
    before = search(FILES).state
    (root / "mill.md").touch()
    assert search({}).state == before
    assert search({}, SearchConfig(documents=3)).state != before
    (root / "new.md").write_text("# New\n\nA bell was added in 1999.", "utf-8")
    assert search({}).state != before


def test_what_cannot_be_read_any_more_is_gone_with_the_reason(search: Search, corpus: Corpus) -> None:
    root = corpus(FILES)
    known = fingerprints(search(FILES))
    (root / "mill.md").write_bytes(b"%PDF-1.7 and nothing more")
    (page,) = search({}).revisit({"corpus/mill.md": known["corpus/mill.md"]}, query="mill")
    assert page.address == ""
    assert page.reason
    assert page.reason != "it is no longer there"
