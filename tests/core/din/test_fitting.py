"""What does not fit is dropped from the least needed on, and that is said."""

from hypothesis import given
from hypothesis import strategies as st

from lethe_core.din.document import DinRead, SubtaskLine, Warn
from lethe_core.din.fitting import KEPT_SEARCHES, LEFT_OUT, fit_frame
from lethe_core.din.read import parse_din, serialize_din
from lethe_core.graph.nodes import ShortId, TaskStatus


def document(n_searches: int = 0, n_siblings: int = 0, n_dependencies: int = 0) -> DinRead:
    def line(number: int) -> SubtaskLine:
        return SubtaskLine(
            ShortId(f"t-{number:04x}"), TaskStatus.DONE, "good", f"dependency {number}", "done"
        )

    warns = [Warn("searched", f"query number {number}", "new") for number in range(n_searches)]
    warns += [Warn("sibling", f"sibling {number}", "") for number in range(n_siblings)]
    return DinRead(
        task=ShortId("t-ffff"),
        goal="What?",
        parent_goal="",
        hint="",
        warns=tuple(warns),
        subtasks=(),
        dependencies=tuple(line(number) for number in range(n_dependencies)),
        evidence=(),
        tools=("web_search",),
    )


def words(din: DinRead) -> int:
    return len(serialize_din(din).split())


def test_what_fits_stays_as_it_is() -> None:
    whole = document(3, 2, 1)
    assert fit_frame(whole, words(whole), words) == whole


def test_old_searches_go_first_then_siblings_then_the_oldest_dependencies() -> None:
    whole = document(10, 3, 4)
    fewer = fit_frame(whole, words(whole) - 6, words)
    assert fewer.warns[0] == LEFT_OUT
    assert fewer.dependencies == whole.dependencies
    assert [warn.quoted for warn in fewer.warns if warn.kind == "searched"][-1] == "query number 9"
    least = fit_frame(whole, words(document(KEPT_SEARCHES, 0, 1)) + 16, words)
    assert not any(warn.kind == "sibling" for warn in least.warns)
    assert least.dependencies == whole.dependencies[-len(least.dependencies) :]


@given(
    n_searches=st.integers(0, 12), n_siblings=st.integers(0, 5), n_dependencies=st.integers(0, 5),
    room=st.integers(0, 200),
)  # fmt: skip
def test_it_fits_or_nothing_more_could_be_dropped_and_reads_back(
    n_searches: int, n_siblings: int, n_dependencies: int, room: int
) -> None:
    whole = document(n_searches, n_siblings, n_dependencies)
    fitted = fit_frame(whole, room, words)
    assert words(fitted) <= room or (not fitted.dependencies and all(w.kind == "note" for w in fitted.warns))
    assert parse_din(serialize_din(fitted)) == fitted
