"""A series: what a run takes over from the last good one, what it says changed, what it does not do again."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_core.din.cited import cited_ids
from lethe_core.errors import SeriesBusyError, SessionMismatchError, SessionNotFoundError
from lethe_core.graph.integrity import problems_of
from lethe_core.graph.nodes import EdgeType, EvidenceKind, NodeId, SessionId, TaskStatus
from lethe_core.graph.session_state import SessionState, SessionStatus, SimilarMark
from lethe_core.report.document import Report
from lethe_core.report.markdown import render_markdown
from lethe_core.session import following
from lethe_core.session.finishing import close_session, draft_report
from lethe_core.session.following import last_good
from lethe_core.session.reporting import stored_report
from lethe_core.similar.plan import prepare_similar_sync

BRIDGE = "tarn-bridge.md"


def run(world: Any, name: str, **settings: Any) -> tuple[Any, Report]:
    """One run of the series, from its opening to its end."""
    driver = world.open(name=name, series="tarn", **settings)
    ending = draft_report(driver.session, driver.run())
    close_session(driver.session, ending)
    driver.session.close()
    return driver.session, ending.report


def change(world: Any, name: str, old: str, new: str) -> None:
    path = world.corpus / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def texts(statements: Any) -> list[str]:
    return [statement.text for statement in statements]


def test_the_evidence_is_taken_over_with_its_edges_and_the_tasks_are_not(world: Any) -> None:
    first, _ = run(world, "s-first")
    driver = world.open(name="s-second", series="tarn")
    before, now = first.snapshot, driver.session.snapshot
    assert (driver.session.state.n, driver.session.state.previous) == (2, "s-first")
    assert {node.origin_id for node in now.evidence.values()} == set(before.evidence)
    own = {node.origin_id: node for node in now.evidence.values()}
    for node in before.evidence.values():
        copy = own[node.id]
        assert copy.id != node.id
        assert np.array_equal(copy.embedding, node.embedding)
        for name in (
            "embed_text",
            "strength",
            "base_strength",
            "superseded",
            "address",
            "content_hash",
            "date",
        ):
            assert getattr(copy, name) == getattr(node, name)
        if node.kind is EvidenceKind.CHUNK:
            assert copy.content == node.content
    among = (EdgeType.SUPERSEDES, EdgeType.SIMILAR_TO)
    edges = {
        (e.type, now.evidence[e.source].origin_id, now.evidence[e.target].origin_id)
        for e in now.edges.values()
        if e.type in among
    }
    assert edges == {e.key for e in before.edges.values() if e.type in among and e.source in before.evidence}
    assert edges
    known = now.known_before
    assert known is not None
    assert known.status is TaskStatus.DONE
    assert {node.id for node in now.produced(known.id)} == set(now.evidence)
    assert len(now.tasks) == 2
    assert now.children(now.root.id) == []
    assert problems_of(driver.session.deps.store.dump_session(SessionId("s-second"))) == []


def test_of_what_was_taken_over_nothing_is_compared_again_and_nothing_would_be_found(world: Any) -> None:
    run(world, "s-first")
    change(world, BRIDGE, "412", "415")
    driver = world.open(name="s-second", series="tarn")
    state, snapshot = driver.session.state, driver.session.snapshot
    threshold = driver.session.deps.embedder.profile.similar_threshold
    assert any(not node.origin_id for node in snapshot.evidence.values())  # what the changed file says anew
    assert state.similar == SimilarMark(len(snapshot.evidence), threshold)
    assert max(node.sequence for node in snapshot.evidence.values()) == state.similar.sequence
    whole = prepare_similar_sync(snapshot, threshold)
    assert not [edge for edge in (*whole.upserts, *whole.deletions) if edge.source in snapshot.evidence]


def test_a_synthesis_cites_what_lies_in_its_own_session(world: Any) -> None:
    run(world, "s-first")
    snapshot = world.open(name="s-second", series="tarn").session.snapshot
    (synthesis,) = [node for node in snapshot.evidence.values() if node.kind is EvidenceKind.SYNTHESIS]
    cited = [snapshot.by_short_id(short_id) for short_id in cited_ids(synthesis.content)]
    assert cited
    assert {node.id for node in cited if node} <= {node.id for node in snapshot.chunks_under(synthesis)}


class Refusing:
    """Stands for an embedder or a provider that must not be asked."""

    def __init__(self, inner: Any, *names: str) -> None:
        self._inner, self._names = inner, names

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            raise AssertionError(f"{name} was asked for again")
        return getattr(self._inner, name)


def test_where_nothing_changed_nothing_is_searched_for_again_and_one_iteration_is_enough(world: Any) -> None:
    first, report = run(world, "s-first")
    assert report.changes is None
    driver = world.open(name="s-second", series="tarn")
    deps = driver.session.deps
    driver.session.deps = replace(deps, search=tuple(Refusing(one, "search") for one in deps.search))
    again = driver.report(driver.run())
    assert driver.session.state.iterations == 1 < first.state.iterations
    assert again.changes is not None
    assert not again.changes
    assert [claim.text for claim in again.findings] == [claim.text for claim in report.findings]
    assert "Nothing new since session s-first." in render_markdown(again)


def test_a_file_that_was_only_touched_has_not_changed(world: Any) -> None:
    run(world, "s-first")
    (world.corpus / BRIDGE).touch()
    session, report = run(world, "s-second")
    assert session.state.iterations == 1
    assert not report.changes


def test_a_changed_file_loses_what_it_says_no_more_and_keeps_the_rest(world: Any) -> None:
    paragraphs = "\n\n".join(
        f"Pier {n} stands on rock. " + f"It was sunk in {1900 + n}. " * 14 for n in range(4)
    )
    (world.corpus / BRIDGE).write_text(
        f"# Tarn bridge\n\nThe Tarn bridge is 412 metres long.\n\n{paragraphs}\n"
    )
    run(world, "s-first")
    change(world, BRIDGE, "412", "415")
    driver = world.open(name="s-second", series="tarn")
    chunks = [node for node in driver.session.snapshot.evidence.values() if node.address.endswith(BRIDGE)]
    fresh = [node for node in chunks if not node.origin_id]
    assert [("415" in node.content, "412" in node.content) for node in fresh] == [(True, False)]
    assert not any("412" in node.content for node in driver.session.snapshot.evidence.values())
    assert sum("Pier" in node.content and bool(node.origin_id) for node in chunks) >= 3
    assert len({node.page_fingerprint for node in chunks}) == 1
    changes = driver.report(driver.run()).changes
    (figure,) = changes.changed_figures
    assert ("412" in figure.old.text, "415" in figure.new.text) == (True, True)
    assert not changes.dropped
    assert not changes.new_findings


def test_a_vanished_file_takes_its_claims_with_it_and_the_report_says_so(world: Any) -> None:
    run(world, "s-first")
    (world.corpus / BRIDGE).unlink()
    session, report = run(world, "s-second")
    assert not any(node.address.endswith(BRIDGE) for node in session.snapshot.evidence.values())
    assert not any(
        node.kind is EvidenceKind.SYNTHESIS and "412" in node.content
        for node in session.snapshot.evidence.values()
    )
    changes = report.changes
    assert changes is not None
    assert [source.address for source in changes.vanished_sources] == [f"papers/{BRIDGE}"]
    assert all(item.vanished for item in changes.dropped)
    assert any("412 metres" in item.statement.text for item in changes.dropped)
    text = render_markdown(report)
    assert "the source has vanished" in text.split("## Answer")[0]


def test_a_renamed_file_is_the_same_source(world: Any) -> None:
    run(world, "s-first")
    (world.corpus / BRIDGE).rename(world.corpus / "bridge-over-the-tarn.md")
    session, report = run(world, "s-second")
    assert not report.changes
    addresses = {node.address for node in session.snapshot.evidence.values()}
    assert "papers/bridge-over-the-tarn.md" in addresses
    assert f"papers/{BRIDGE}" not in addresses


def test_a_newer_edition_in_a_file_of_its_own_changes_the_figure(world: Any) -> None:
    text = (
        "# Ferry tariff\n\nVersion {v}\n\nA crossing of the Tarn bridge by car costs {n} euros on weekdays.\n"
    )
    (world.corpus / "tariff-v1.md").write_text(text.format(v=1, n=7), "utf-8")
    question = "What does a crossing of the Tarn bridge by car cost on weekdays?"

    def once(name: str) -> Any:
        driver = world.open(question, name, series="fare")
        report = driver.report(driver.run())
        close_session(driver.session, draft_report(driver.session, "goal_complete"))
        driver.session.close()
        return report

    once("s-a")
    (world.corpus / "tariff-v2.md").write_text(text.format(v=2, n=9), "utf-8")
    changes = once("s-b").changes
    (figure,) = changes.changed_figures
    assert ("7 euros" in figure.old.text, "9 euros" in figure.new.text) == (True, True)
    assert figure.old.sources[0].address.endswith("v1.md")
    assert figure.new.sources[0].address.endswith("v2.md")
    # And when it is taken back.
    (world.corpus / "tariff-v2.md").unlink()
    (back,) = once("s-c").changes.changed_figures
    assert ("9 euros" in back.old.text, "7 euros" in back.new.text) == (True, True)


def test_edges_that_were_taken_over_outlive_the_sync(world: Any) -> None:
    for number in range(3):
        name = ["Orle", "Lisk", "Tarn"][number]
        (world.corpus / f"inn{number}.md").write_text(
            f"# Inn\n\nThe inn at {name} has rooms for {number + 4} guests.\n"
        )
    question = (
        "1. How many guests has the inn at Orle rooms for? 2. How many guests has the inn at Lisk rooms for?"
    )

    def similar(session: Any) -> set[tuple[str, str]]:
        snapshot = session.snapshot
        return {
            tuple(sorted(snapshot.evidence[end].content for end in (edge.source, edge.target)))
            for edge in snapshot.edges.values()
            if edge.type is EdgeType.SIMILAR_TO and edge.source in snapshot.evidence
            if all(snapshot.evidence[e].kind is EvidenceKind.CHUNK for e in (edge.source, edge.target))
        }

    sessions = []
    for name in ("s-a", "s-b"):
        driver = world.open(question, name, series="inns")
        ending = draft_report(driver.session, driver.run())
        close_session(driver.session, ending)
        driver.session.close()
        sessions.append(driver.session)
    assert similar(sessions[0]) <= similar(sessions[1])


def test_a_long_series_does_not_grow_where_nothing_changes(world: Any) -> None:
    sizes = [len(run(world, f"s-{number}")[0].snapshot.evidence) for number in range(5)]
    assert sizes[2] == sizes[3] == sizes[4]


def test_a_kill_in_the_middle_leaves_nothing_and_the_next_start_does_it_whole(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = run(world, "s-first")

    class Killed(BaseException):
        pass

    def die(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(following, "commit_similar_sync", die)  # with every node created
        with pytest.raises(Killed):
            world.open(name="s-second", series="tarn")
    store = world.deps().store
    assert store.load_session(SessionId("s-second")).n == 0
    assert not store.load_snapshot(SessionId("s-second")).evidence
    driver = world.open(name="s-second", series="tarn")
    assert len(driver.session.snapshot.evidence) == len(first.snapshot.evidence)
    driver.session.close()
    # Opened once more: it is not taken over twice.
    assert len(world.open(name="s-second").session.snapshot.evidence) == len(first.snapshot.evidence)


def test_another_question_is_refused_and_leaves_no_session(world: Any) -> None:
    run(world, "s-first")
    with pytest.raises(SessionMismatchError, match="tarn asks another question: 'How long is the Tarn"):
        world.open("Who built the mill?", "s-other", series="tarn")
    with pytest.raises(SessionNotFoundError):
        world.deps().store.load_session(SessionId("s-other"))


def test_a_session_is_put_into_no_other_series(world: Any) -> None:
    world.open(name="s-alone").session.close()
    with pytest.raises(SessionMismatchError, match="of no series"):
        world.open(name="s-alone", series="tarn")
    run(world, "s-first")
    with pytest.raises(SessionMismatchError, match="of the series tarn, not of rail"):
        world.open(name="s-first", series="rail")


def test_whose_turn_it_is_not_leaves_no_session(world: Any) -> None:
    world.open(name="s-first", series="tarn")
    with pytest.raises(SeriesBusyError) as busy:
        world.open(name="s-second", series="tarn")
    assert busy.value.session_id == "s-first"
    with pytest.raises(SessionNotFoundError):
        world.deps().store.load_session(SessionId("s-second"))


def test_runs_that_found_nothing_or_failed_are_passed_over(world: Any) -> None:
    run(world, "s-good")
    cut = world.open(name="s-cut", series="tarn")
    close_session(cut.session, draft_report(cut.session, "cancelled"))
    cut.session.close()
    world.open(name="s-crashed", series="tarn").session.close()
    change(world, BRIDGE, "412", "415")
    session, report = run(world, "s-next")
    assert (session.state.n, session.state.previous) == (4, "s-good")
    assert report.changes is not None
    assert len(report.changes.changed_figures) == 1


def test_what_was_said_before_outlives_the_predecessor(world: Any) -> None:
    run(world, "s-first")
    change(world, BRIDGE, "412", "415")
    session, report = run(world, "s-second")
    store, embedder = world.deps().store, session.deps.embedder
    store.delete_session(SessionId("s-first"))
    state, snapshot = store.load_session(SessionId("s-second")), store.load_snapshot(SessionId("s-second"))
    again = stored_report(snapshot, state, embedder)
    assert again.changes == report.changes
    assert again.claims == report.claims
    assert problems_of(store.dump_session(SessionId("s-second"))) == []


def test_another_embedding_model_takes_over_no_vectors_and_compares_all_the_same(world: Any) -> None:
    first, _ = run(world, "s-first")
    driver = world.open(name="s-second", series="tarn")
    # As if the first had been filled by another model.
    driver.session.state = replace(driver.session.state, n=0, profile="other@1")
    other = world.deps()
    listed = [replace(first.state, profile="another@1")]
    session = driver.session
    session.deps = replace(other, store=Listing(other.store, listed, session.deps.store))
    following.follow(session)
    assert session.state.before is not None
    assert session.state.before.held
    assert session.state.known_searches == ()


class Listing:
    """A store whose series is what a test says."""

    def __init__(self, inner: Any, listed: list[SessionState], writing: Any) -> None:
        self._inner, self._listed, self._writing = inner, listed, writing

    def list_sessions(self, series: str = "") -> list[SessionState]:  # noqa: ARG002
        return self._listed

    def transaction(self, lease: Any) -> Any:
        return self._writing.transaction(lease)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


STATE = SessionState(SessionId("s"), "u", NodeId("r"), "q", "p", {}, series="x")


@given(
    st.lists(
        st.tuples(
            st.sampled_from(SessionStatus),
            st.sampled_from(["goal_complete", "iteration_cap", "model_unavailable", "cancelled"]),
            st.integers(0, 2),
        ),
        max_size=6,
    )
)
def test_the_last_good_run_is_the_latest_that_ended_with_findings(runs: list[tuple[Any, str, int]]) -> None:
    states = [
        replace(STATE, n=n, status=status, stop_reason=reason, n_findings=found)
        for n, (status, reason, found) in enumerate(runs, start=1)
    ]
    good = [
        s.n
        for s in states
        if s.status is SessionStatus.COMPLETE
        or (s.status is SessionStatus.PARTIAL and s.stop_reason == "iteration_cap" and s.n_findings > 0)
    ]
    found = last_good(states[::-1])
    assert (found.n if found else 0) == max(good, default=0)


def test_every_part_is_worked_through_again_however_still_the_signals_stand(world: Any) -> None:
    for number in range(6):
        (world.corpus / f"inn{number}.md").write_text(
            f"# Inn {number}\n\nThe inn number {number} at Lisk has rooms for {number + 40} guests.\n"
        )
    question = " ".join(
        f"{number + 1}. How many guests has the inn number {number} at Lisk rooms for?" for number in range(6)
    )
    reports = []
    for name in ("s-a", "s-b", "s-c"):
        driver = world.open(question, name, series="inns")
        reason = driver.run()
        ending = draft_report(driver.session, reason)
        close_session(driver.session, ending)
        driver.session.close()
        reports.append((reason, driver.session.state.iterations, ending.report))
    for reason, iterations, report in reports[1:]:
        assert reason == "goal_complete"
        assert iterations <= 8 < reports[0][1]  # to divide, six parts, to put together
        assert len(report.sections) == 6
        assert not report.changes
