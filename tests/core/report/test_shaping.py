"""Tables regrouped, quotations counted, titles shortened."""

from lethe_core.graph.nodes import TaskNode, no_vector
from lethe_core.report.claims import DraftHeading, DraftList, DraftTable, drafts_of, read_cited
from lethe_core.report.shaping import joined, kept, limited, merged, shorten, titles, told_once

TABLE = "| Line | Limit |\n|---|---|\n| {} | {} | [e-aaaa]\n\n"


def quotations(n):
    return "\n".join(f"“Quotation number {i} of the lot.” [e-aaaa]" for i in range(n))


def task(description):
    return TaskNode(description=description, embed_text="", embedding=no_vector())


def test_rows_of_the_same_header_become_one_table():
    (table,) = merged(read_cited(TABLE.format("Harbour", 21) + TABLE.format("Abbey", 17)))
    assert isinstance(table, DraftTable)
    assert [row.cells for row in table.rows] == [("Harbour", "21"), ("Abbey", "17")]


def test_tables_of_other_headers_stay_apart():
    assert (
        len(
            merged(
                read_cited(TABLE.format("Harbour", 21) + TABLE.replace("Limit", "Load").format("Abbey", 9))
            )
        )
        == 2
    )


def test_neighbouring_quotations_become_a_list_and_prose_does_not():
    (found,) = merged(read_cited(quotations(3)))
    assert isinstance(found, DraftList)
    assert len(found.items) == 3
    assert len(merged(read_cited("It is red [e-aaaa].\n\nIt is new [e-aaaa]."))) == 2


def test_quotations_are_limited_and_those_left_out_counted():
    shapes, left_out = limited(merged(read_cited(quotations(11))), 8)
    assert (sum(len(drafts_of(s)) for s in shapes), left_out) == (8, 3)


def test_a_table_and_a_written_list_count_as_one_quotation():
    items = "- “Item one of the list.” [e-aaaa]\n- “Item two of the list.” [e-aaaa]\n\n"
    text = TABLE.format("Harbour", 21) + items + quotations(3)
    shapes, left_out = limited(merged(read_cited(text)), 4)
    assert [len(drafts_of(shape)) for shape in shapes] == [1, 2, 2]
    assert left_out == 1


def test_prose_is_not_limited():
    text = " ".join(f"It has {i} cars [e-aaaa]." for i in range(20))
    assert limited(read_cited(text), 2) == (list(read_cited(text)), 0)


def test_a_heading_goes_with_the_last_of_its_claims():
    blocks = read_cited("# Gone\n\nIt is red [e-aaaa].\n\n# Kept\n\nIt is new [e-bbbb].")
    shapes = kept(blocks, lambda draft: "new" in draft.text)
    assert [s.text for s in shapes if isinstance(s, DraftHeading)] == ["Kept"]


def test_titles_lose_the_lead_in_that_all_share():
    assert titles([task("For a briefing: who?"), task("For a briefing: when?")]) == ["who?", "when?"]
    assert titles([task("For a briefing: who?"), task("And when?")]) == ["For a briefing: who?", "And when?"]
    assert titles([task("For a briefing: who?")]) == ["For a briefing: who?"]
    assert titles([]) == []


def test_long_titles_are_cut_at_a_word():
    assert shorten("one two three", 9) == "one two…"
    assert shorten("a\nb") == "a b"


def test_a_quotation_is_told_once_in_a_section():
    text = quotations(2) + "\n" + quotations(1)
    assert sum(len(drafts_of(shape)) for shape in told_once(read_cited(text))) == 2


def test_neighbouring_lists_of_quotations_become_one_after_the_limit():
    items = "- “Item one of the list.” [e-aaaa]\n- “Item two of the list.” [e-aaaa]\n\n"
    shapes = joined(merged(read_cited("“First of all the words.” [e-bbbb]\n\n" + items + quotations(1))))
    assert [len(drafts_of(shape)) for shape in shapes] == [4]


def test_a_list_of_prose_is_left_alone():
    blocks = list(read_cited("- It is red [e-aaaa].\n- It is new [e-aaaa].\n\nIt runs [e-aaaa]."))
    assert joined(blocks) == blocks
