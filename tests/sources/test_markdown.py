"""Markdown and plain text: canonical headings, titles, dates, and nothing lost."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.adapters.sources.readers.markdown import plain, read_markdown, read_text


def test_front_matter_gives_title_and_date_and_stays_readable() -> None:
    front = 'title: "The mill"\ndate: 3 May 2024\nstatus: superseded\ntags:\n  - water\n  - wheat'
    document = read_markdown(f"---\n{front}\n---\n\nIt closed.\n".encode())
    assert document.title == "The mill"
    assert (document.date, document.date_in_text) == ("2024-05-03", True)
    assert "- status: superseded\n- tags: water, wheat\n\nIt closed." in document.text


def test_toml_front_matter_is_read() -> None:
    document = read_markdown(b'+++\ntitle = "Mill"\ndate = 2024-05-03T10:00:00Z\n+++\nText.\n')
    assert (document.title, document.date) == ("Mill", "2024-05-03")


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert read_markdown(b"---\nOnce there was a mill.\n---\n\nEnd.\n").text.startswith(
        "---\nOnce there was a mill."
    )


def test_headings_and_bullets_are_written_one_way() -> None:
    document = read_markdown(b"Mill\n====\n\nParts\n-----\n\n* wheel\n+ stone ##\n\n### Shut ###\n")
    assert document.text == "# Mill\n\n## Parts\n\n- wheel\n- stone ##\n\n### Shut"
    assert document.title == "Mill"


def test_the_title_is_the_highest_heading_among_the_first() -> None:
    assert read_markdown(b"### Notice\n\n# The *mill*\n\n## Parts\n").title == "The mill"


def test_code_is_left_alone_and_its_comments_are_no_headings() -> None:
    code = "```\n# not a title\n* star\n[a](b)\n```"
    document = read_markdown(f"{code}\n\n# Title\n".encode())
    assert code in document.text
    assert document.title == "Title"


def test_of_links_and_images_the_words_stay_and_comments_go() -> None:
    data = b"See [the plan](https://example.org/a_(b).pdf) ![a wheel](w.png).<!-- ignore\nall rules -->\n"
    assert read_markdown(data).text == "See the plan a wheel."


def test_a_table_keeps_its_dashes() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    assert read_markdown(table.encode()).text == table


def test_plain_text_has_its_headings_marked() -> None:
    data = b"HOURS\n\nOpen from ten.\n\n1. Scope\n\nThe frame was examined.\n"
    assert read_text(data).text == "## HOURS\n\nOpen from ten.\n\n## 1. Scope\n\nThe frame was examined."


def test_a_numbered_list_with_blank_lines_is_no_row_of_headings() -> None:
    assert "#" not in read_text(b"1. Buy milk\n\n2. Buy eggs\n\n3. Go home\n").text


def test_a_short_first_line_is_the_title_of_plain_text() -> None:
    assert read_text(b"The mill in winter\n\nIt was cold.\n").title == "The mill in winter"
    assert read_text(b"It was cold that year.\n\nVery cold.\n").title == ""


def test_lines_in_capitals_above_plain_text_are_its_title() -> None:
    data = b"ST. OSYTH'S TOWER\nSURVEY OF THE FRAME\nFirst survey - May 2019\n\nThe frame was examined.\n"
    document = read_text(data)
    assert document.title == "St. Osyth's Tower: Survey of the Frame"
    assert document.text == data.decode().strip()
    assert read_text(b"WYRE VALLEY NHS TRUST\n\nLeave is granted.\n").title == "Wyre Valley NHS Trust"


def test_emphasis_leaves_a_title_and_names_with_underscores_do_not() -> None:
    assert plain("**The** `mill` of _old_") == "The mill of old"
    assert plain("snake_case_name") == "snake_case_name"


@settings(max_examples=100, deadline=None)
@given(text=st.text(alphabet="ab1 \n#-=*_[]()|`.:~<>!\t", max_size=120))
def test_reading_again_what_was_read_changes_nothing(text: str) -> None:
    once = read_markdown(b"x\n\n" + text.encode()).text
    words = [word for word in once.split() if word.isalnum()]
    again = read_markdown(once.encode()).text
    assert [word for word in again.split() if word.isalnum()] == words


@settings(max_examples=100, deadline=None)
@given(
    lines=st.lists(st.from_regex(r"[a-z]{1,8}( [a-z]{1,8}){0,5}", fullmatch=True), min_size=1, max_size=12)
)
def test_no_word_of_plain_text_is_lost(lines: list[str]) -> None:
    read = read_text("\n".join(lines).encode())
    assert read.text.replace("#", "").split() == " ".join(lines).split()
