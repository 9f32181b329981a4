import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.evidence.dedup import content_hash, identity_text, semantic_duplicates, url_fingerprint

NONE = np.zeros((0, 2), np.float32)


def rows(*angles: float) -> np.ndarray:
    return np.array([[np.cos(a), np.sin(a)] for a in angles], np.float32)


@pytest.mark.parametrize(
    "same",
    [
        ("https://Example.org/a", "http://example.org:80/a/", "https://www.example.org/a#part"),
        ("https://example.org/a?x=1&utm_source=z&y=2&fbclid=q", "https://example.org/a?y=2&x=1"),
        ("https://example.org/%7Ea%20b", "https://example.org/~a b"),
        (
            "https://arxiv.org/abs/2401.01234v2",
            "http://arxiv.org/pdf/2401.01234.pdf",
            "https://ar5iv.org/html/2401.01234",
        ),
        ("https://arxiv.org/abs/hep-th/9901001", "https://export.arxiv.org/pdf/hep-th/9901001v3"),
        ("https://doi.org/10.1000/ABC", "http://dx.doi.org/10.1000/abc"),
        ("https://youtu.be/abcdefghijk?t=3", "https://www.youtube.com/watch?v=abcdefghijk&list=1"),
        ("https://en.m.wikipedia.org/wiki/Oslo", "https://en.wikipedia.org/wiki/Oslo"),
    ],
)
def test_addresses_of_one_page_share_a_fingerprint(same: tuple[str, ...]) -> None:
    assert len({url_fingerprint(address) for address in same}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/a", "https://example.org/A"),
        ("https://example.org/a?id=1", "https://example.org/a?id=2"),
        ("https://example.org/#!/a", "https://example.org/#!/b"),
        ("https://example.org:8080/a", "https://example.org/a"),
        ("corpus/a.md", "corpus/A.md"),
        ("corpus/a#1.md", "corpus/a#2.md"),
    ],
)
def test_other_pages_have_other_fingerprints(one: str, other: str) -> None:
    assert url_fingerprint(one) != url_fingerprint(other)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60) | st.text(max_size=60).map("https://a.org/".__add__))
def test_any_address_has_a_fingerprint(address: str) -> None:
    assert isinstance(url_fingerprint(address), str)


@settings(max_examples=100, deadline=None)
@given(
    st.from_regex(r"[a-z]{1,8}\.(org|com)", fullmatch=True),
    st.from_regex(r"(/[A-Za-z0-9._-]{1,6}){0,3}", fullmatch=True),
    st.lists(st.sampled_from(["a=1", "b=2", "id=x"]), unique=True),
    st.sampled_from(["utm_source=x", "fbclid=1", "gclid=2", ""]),
    st.randoms(use_true_random=False),
)
def test_no_tracking_order_scheme_port_fragment_or_slash_makes_another_page(
    host, path, query, tracking, random
):
    plain = f"https://{host}{path}" + (f"?{'&'.join(query)}" if query else "")
    shuffled = [*query, *([tracking] if tracking else [])]
    random.shuffle(shuffled)
    other = f"http://www.{host.upper()}:80{path}/" + (f"?{'&'.join(shuffled)}" if shuffled else "") + "#part"
    assert url_fingerprint(other) == url_fingerprint(plain)
    if query:
        assert url_fingerprint(plain) != url_fingerprint(f"https://{host}{path}")


def test_credentials_are_no_part_of_a_fingerprint() -> None:
    assert "secret" not in url_fingerprint("https://user:secret@example.org/a")
    assert url_fingerprint("https://example.org:port/") == "https://example.org:port/"


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.text("aÄ5.-", min_size=1, max_size=4), max_size=6),
    st.lists(st.text(" \t\n\u00a0", min_size=1)),
)
def test_a_text_has_one_hash_however_it_is_spaced(words: list[str], spaces: list[str]) -> None:
    gaps = [*spaces, *[" "] * (len(words) + 1)][: len(words) + 1]
    spaced = gaps[0] + "".join(word + gap for word, gap in zip(words, gaps[1:], strict=True))
    assert content_hash(spaced) == content_hash(" ".join(words))
    assert content_hash(" ".join([*words, "b"])) != content_hash(" ".join(words))


def test_the_content_hash_ignores_white_space_only() -> None:
    assert content_hash("a\n\n b\u00a0c") == content_hash("a b c")
    assert content_hash("a b") != content_hash("A b")
    assert len(content_hash("\ud800")) == 64


def test_a_row_is_compared_with_its_headings_and_without_its_page() -> None:
    row = "| a |\n| --- |\n| 1 |"
    assert identity_text(row, "Fares › Adults › p. 3") == f"Fares › Adults\n{row}"
    assert identity_text(row, "p. 3") == row
    assert identity_text("prose", "Fares") == "prose"


def test_a_paraphrase_is_found_among_old_and_within_the_batch() -> None:
    found = semantic_duplicates(rows(0.0, 1.5, 1.51), ["x", "y", "z"], rows(0.1), ["old"], 0.95)
    assert found == (0, -1, 2)


def test_a_changed_figure_is_news_however_alike() -> None:
    assert semantic_duplicates(rows(0.0), ["5 cars"], rows(0.0), ["6 cars"], 0.95) == (-1,)


def test_the_nearest_text_without_the_fact_gives_way_to_one_that_has_it() -> None:
    assert semantic_duplicates(rows(0.0), ["5 cars"], rows(0.0, 0.1), ["6 cars", "5 cars"], 0.95) == (1,)


def test_the_threshold_must_be_exceeded_and_zero_vectors_repeat_nothing() -> None:
    zero = np.zeros((1, 2), np.float32)
    assert semantic_duplicates(zero, ["a"], zero, ["a"], 0.95) == (-1,)
    exact = np.array([[1.0, 0.0]], np.float32)
    assert semantic_duplicates(exact, ["a"], exact, ["a"], 1.0) == (-1,)


def test_what_a_dropped_text_repeats_is_kept() -> None:
    # A chain: each is like the next only; dropping the second leaves nothing for the third to repeat.
    step = 0.3
    assert semantic_duplicates(rows(0, step, 2 * step), ["a", "b", "c"], NONE, [], 0.95) == (-1, 0, -1)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_every_dropped_text_has_a_kept_one_above_the_threshold(n: int, m: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    new, old = (rows(*random.uniform(0, 3, size=k)).reshape(k, 2) for k in (n, m))
    found = semantic_duplicates(new, ["t"] * n, old, ["t"] * m, 0.95)
    everything = np.concatenate([old, new])
    for i, j in enumerate(found):
        if j >= 0:
            assert float(new[i] @ everything[j]) > 0.95
            assert j < m or (found[j - m] == -1 and j - m < i)
        else:
            kept = [k for k in range(i) if found[k] == -1]
            assert not (new[i] @ old.T > 0.9500001).any()
            assert not (new[i] @ new[kept].T > 0.9500001).any()


def test_what_does_not_count_is_not_repeated() -> None:
    old, texts = rows(0.0, 0.001), ["a synthesis", "a chunk"]
    assert semantic_duplicates(rows(0.0), ["a"], old, texts, 0.95) == (0,)
    counts = np.array([False, True])
    assert semantic_duplicates(rows(0.0), ["a"], old, texts, 0.95, old_counts=counts) == (1,)
    assert semantic_duplicates(rows(0.0), ["a"], old, texts, 0.95, old_counts=~np.array([True] * 2)) == (-1,)
