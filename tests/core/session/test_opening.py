"""Names, questions, profiles and reopening."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_core.errors import SessionBusyError, SessionMismatchError, StoreVersionError, UsageError
from lethe_core.graph.session_state import SessionPatch, SessionStatus
from lethe_core.session.finishing import close_session, draft_report
from lethe_core.session.opening import check_same, checked_question, checked_session_id, open_session

SEARCH = {"op": "web_search", "query": "Tarn bridge"}


@pytest.mark.parametrize("question", ["", "  \n ", "a\x00b", "caf\udce9", "x" * 8_001])
def test_what_cannot_be_a_question_is_refused(question: str) -> None:
    with pytest.raises(UsageError):
        checked_question(question)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("\x1b[31mcold\x1b[0m water?", "cold water?"),
        ("\x1b[1;38;5;208mcold\x1b[K", "cold"),
        ("\x9b31mcold", "cold"),
        ("\x1b]0;a title\x07cold", "cold"),
        ("\x1b]8;;https://x.example\x1b\\cold\x1b]8;;\x1b\\ water", "cold water"),
        ("[31m of [1]?", "[31m of [1]?"),
        ("what \x1b]0;never ends", "what \x1b]0;never ends"),
    ],
)
def test_a_terminal_s_escape_sequences_are_no_part_of_a_question(question: str, asked: str) -> None:
    assert checked_question(question) == asked


@given(st.text(max_size=80))
def test_a_session_name_is_always_safe_as_a_folder(name: str) -> None:
    try:
        checked = checked_session_id(name)
    except UsageError:
        return
    assert checked[0].isalpha()
    assert not set(checked) & set("/\\ \n\0:*?")
    assert len(checked) <= 64


@pytest.mark.parametrize("name", ["12345678", "", "../up", "a/b", "-x", ".x", "s 1", "ä1"])
def test_a_name_that_looks_like_a_number_or_a_path_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="letter"):
        checked_session_id(name)


def test_another_question_is_refused_and_names_the_first(world: Any) -> None:
    world.open().session.close()
    with pytest.raises(SessionMismatchError, match="Tarn bridge"):
        world.open("Who built the mill?")


def test_another_corpus_is_refused_and_names_the_first(world: Any, tmp_path: Path) -> None:
    world.open().session.close()
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("The mill was built in 1790.\n", encoding="utf-8")
    for corpus in ((other,), (world.corpus, other)):
        with pytest.raises(SessionMismatchError, match=rf"the folder {world.corpus}, not on .*other:"):
            world.open(corpus=corpus)


def test_the_same_corpus_by_another_path_and_twice_is_the_same(world: Any, tmp_path: Path) -> None:
    world.open().session.close()
    link = tmp_path / "link"
    link.symlink_to(world.corpus)
    again = world.open(corpus=(link,))
    state, profile = again.session.state, again.session.deps.embedder.profile
    check_same(state, "", profile, corpus=(world.corpus, tmp_path / "home" / ".." / "papers"))
    check_same(state, "", profile)


def test_another_embedding_is_refused_before_anything_is_spent(world: Any) -> None:
    driver = world.open()
    store, state = driver.session.deps.store, driver.session.state
    driver.session.close()
    other = replace(driver.session.deps.embedder.profile, name="other")
    with pytest.raises(StoreVersionError, match="wordllama"):
        check_same(state, state.goal, other)
    assert store.load_session(state.session_id).iterations == 0


def test_two_runs_of_one_session_the_second_is_told_who_has_it(world: Any) -> None:
    first = world.open()
    with pytest.raises(SessionBusyError):
        open_session(
            world.deps(), first.session.state.goal, first.session.state.session_id, owner="elsewhere/1/-/x"
        )


def ended(driver: Any, reason: str) -> None:
    close_session(driver.session, draft_report(driver.session, reason))
    driver.session.close()


def test_a_cancelled_session_goes_on_and_keeps_what_it_had(world: Any) -> None:
    driver = world.scripted([SEARCH])
    driver.iterate()
    ended(driver, "cancelled")
    again = world.open()
    assert again.session.state.status is SessionStatus.RUNNING
    assert again.session.state.iterations == 1
    assert len(again.session.snapshot.evidence) == len(driver.session.snapshot.evidence)


def test_a_capped_session_stays_ended_until_a_target_is_raised(world: Any) -> None:
    driver = world.scripted([SEARCH], max_iterations=5)
    driver.iterate()
    ended(driver, "iteration_cap")
    same = world.open(max_iterations=5)
    assert same.session.state.status is SessionStatus.PARTIAL
    same.session.close()
    more = world.open(max_iterations=6)
    assert more.session.state.status is SessionStatus.RUNNING
    assert more.session.state.config["max_iterations"] == 6
    assert more.session.state.reopened_at == 1


def test_a_goal_that_was_reached_is_never_reopened(world: Any) -> None:
    driver = world.open()
    reason = driver.run()
    assert reason == "goal_complete"
    ended(driver, reason)
    again = world.open(max_iterations=100)
    assert again.session.state.status is SessionStatus.COMPLETE
    assert again.run() == "goal_complete"


def test_the_state_stays_writable_when_the_root_is_done(world: Any) -> None:
    driver = world.open()
    driver.run()
    with driver.session.write() as tx:
        tx.update_session(SessionPatch(message="noted"))
    assert driver.session.state.message == "noted"


def test_what_a_folder_holds_and_nobody_can_read_is_named_in_the_session(world: Any) -> None:
    (world.corpus / "junk.pdf").write_bytes(b"%PDF-1.7 and nothing more")
    driver = world.open()
    (skipped,) = driver.session.state.skipped
    assert skipped.source.endswith("junk.pdf")
    assert skipped.reason
    report = driver.report(driver.run())
    assert [entry.source for entry in report.skipped] == [skipped.source]
