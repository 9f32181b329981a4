"""A question of more parts than one answer can create is divided over several, none lost and none twice."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lethe_core.control.embedding import Embedder
from lethe_core.din.quoting import shorten
from lethe_core.reasoning.division import divided, embed_text, parts_left

TOWERS = ["ash", "birch", "cedar", "date", "elm", "fir", "gum", "holly", "ivy", "juniper", "kauri", "larch"]
WHAT = ["height of the tower", "owner of the mill", "length of the bridge", "age of the chapel"]
FORTY = [f"the {what} at {tower.title()}" for what in WHAT for tower in TOWERS][:40]
QUESTION = "State: " + " ".join(f"({n}) {part};" for n, part in enumerate(FORTY, start=1))


def test_all_parts_of_a_long_question_are_told_apart(embedder: Embedder) -> None:
    assert [part.description for part in divided(QUESTION, embedder)] == [f"State: {part}" for part in FORTY]


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 40))
def test_what_is_left_follows_what_was_created(embedder: Embedder, created: int) -> None:
    everything = [part.description for part in divided(QUESTION, embedder)]
    left = parts_left(QUESTION, [shorten(text) for text in everything[:created]], embedder)
    assert [part.description for part in left] == everything[created:]


def test_a_long_lead_in_does_not_hide_what_was_created(embedder: Embedder) -> None:
    """A subtask is told of by its first 200 characters, which are then the same for all."""
    lead = "For the survey of " + ", ".join(f"the parish of {tower.title()}" for tower in TOWERS)
    question = f"{lead}, state: " + " ".join(f"({n}) {part};" for n, part in enumerate(FORTY[:20], start=1))
    everything = [part.description for part in divided(question, embedder)]
    assert len({shorten(text) for text in everything}) == 1
    left = parts_left(question, [shorten(text) for text in everything[:11]], embedder)
    assert [part.description for part in left] == everything[11:]


def test_what_the_graph_takes_for_a_duplicate_is_not_asked_for_again(embedder: Embedder) -> None:
    question = "(1) height of the Ash tower; (2) the height of the Ash tower; (3) owner of the Elm mill;"
    got = divided(question, embedder)
    assert [part.description for part in got] == ["height of the Ash tower", "owner of the Elm mill"]
    assert parts_left(question, [part.description for part in got], embedder) == ()


def test_the_division_of_another_reasoner_stands(embedder: Embedder) -> None:
    assert parts_left(QUESTION, ["what is known of the towers", "the mills"], embedder) == ()


def test_one_question_has_no_parts_left(embedder: Embedder) -> None:
    assert parts_left("When was the Ash tower built?", [], embedder) == ()


def test_text_for_an_embedding_is_never_empty() -> None:
    assert embed_text("the height of the tower") == "height tower"
    assert embed_text("of the") == "of the"
    assert embed_text("?") == "?"
