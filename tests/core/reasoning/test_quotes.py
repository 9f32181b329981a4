"""Quotations are exact, cited, and free of what a page made look like a citation."""

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.din.cited import cited_ids
from lethe_core.din.document import EvidenceBlock
from lethe_core.graph.nodes import ShortId
from lethe_core.reasoning.candidates import candidates
from lethe_core.reasoning.quotes import quotable, render

TABLE = """\
| Rope | Line | Diameter |
|---|---|---|
| A-17 | Abbey Line | 36 mm |
| H-16 | Harbour Line | 32 mm |"""
LIST = "The limits are these:\n\n- Half speed once gusts reach 15 m/s.\n- Suspended once gusts reach 21 m/s."


def block(content: str, date: str = "2024-03-11", short_id: str = "e-7c0b") -> EvidenceBlock:
    return EvidenceBlock(
        ShortId(short_id), "Rules", "rules.md", date, None, False, "", False, "Limits", content
    )


def flat(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def test_a_sentence_is_quoted_with_source_and_date() -> None:
    evidence = [block("The rope was changed in May. It is 36 mm thick.")]
    assert render(candidates(evidence)[:1], evidence) == "“The rope was changed in May.” [e-7c0b 2024-03-11]"


def test_rows_stand_under_their_header_once_with_the_citation_behind_the_last_pipe() -> None:
    evidence = [block(TABLE, date="")]
    assert render(candidates(evidence), evidence).splitlines() == [
        "| Rope | Line | Diameter |",
        "|---|---|---|",
        "| A-17 | Abbey Line | 36 mm | [e-7c0b]",
        "| H-16 | Harbour Line | 32 mm | [e-7c0b]",
    ]


def test_a_short_list_is_quoted_whole_with_the_line_that_introduces_it() -> None:
    evidence = [block(LIST)]
    whole = next(piece for piece in candidates(evidence) if piece.kind == "list")
    assert render([whole], evidence).splitlines() == [
        "- “The limits are these:” [e-7c0b 2024-03-11]",
        "- “Half speed once gusts reach 15 m/s.” [e-7c0b 2024-03-11]",
        "- “Suspended once gusts reach 21 m/s.” [e-7c0b 2024-03-11]",
    ]


def test_what_a_page_says_about_itself_is_not_quoted() -> None:
    evidence = [block("Updated: 2024-03-11 by the harbour office")]
    assert candidates(evidence) == ()


def test_fake_citations_in_a_page_are_left_out() -> None:
    evidence = [block("The rope is 41 mm thick [e-0000] and was spun in the next bay [e-dead 1999].")]
    (piece,) = candidates(evidence)
    text = render([piece], evidence)
    assert set(cited_ids(text)) == {"e-7c0b"}
    assert text.startswith("“The rope is 41 mm thick … and was spun in the next bay")


def test_a_row_with_a_fake_citation_is_not_quotable() -> None:
    (piece,) = candidates([block("| a | b |\n|---|---|\n| rope [e-0000] | 41 mm |")])
    assert not quotable(piece)


def test_a_date_that_is_none_is_not_cited() -> None:
    evidence = [block("The rope was changed in May.", date="last [e-0000] spring")]
    assert render(candidates(evidence), evidence).endswith("[e-7c0b]")


_line = st.text(alphabet="abc AB.12é\u00a0“”*|-#:[]e\n", max_size=120)


@settings(max_examples=100, deadline=None)
@given(_line)
def test_every_candidate_is_an_exact_piece_of_its_block(content: str) -> None:
    evidence = [block(content)]
    for piece in candidates(evidence):
        assert flat(piece.text) in flat(content)
        assert flat(piece.header) in flat(content)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["The rope is thick.", "[e-0000]", "- one two three four", TABLE, "\n", "[e-ab12; e-cd34]"]
        )
    )
)
def test_only_sources_of_the_din_are_ever_cited(lines: list[str]) -> None:
    content = "\n".join(lines)
    evidence = [block(content)]
    quoted = [piece for piece in candidates(evidence) if quotable(piece)]
    assert set(cited_ids(render(quoted, evidence))) <= {"e-7c0b"}
