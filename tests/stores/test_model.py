"""Every store: random sequences of transactions, compared with a plain model after each one.

The model knows the promises and nothing of the store's code: dictionaries, and rules written out once more.
"""

import collections
import copy
import dataclasses
import itertools
import uuid

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from lethe_core.adapters.stores import open_store
from lethe_core.errors import (
    CycleError,
    DuplicateError,
    ImmutableNodeError,
    InvalidValueError,
    NoProgressError,
    SessionLostError,
)
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceNode, NodeId, Similarity, TaskNode, TaskStatus
from lethe_core.graph.patches import EvidencePatch, TaskPatch
from lethe_core.graph.session_state import SessionPatch, SessionState
from lethe_core.graph.snapshot import GraphSnapshot

# Few ids that begin alike, so that both duplicates and collisions of short ids come up.
IDS = [str(uuid.UUID(start.ljust(32, "0"))) for start in ("aaaa1", "aaaa2", "aaaa11", "bbbb", "aaaa1111")]
MOVES = {("PENDING", "ACTIVE"), ("ACTIVE", "PENDING"), ("ACTIVE", "DONE"), ("ACTIVE", "FAILED")}
ENDS = {"SUBTASK_OF": "tt", "DEPENDS_ON": "tt", "PRODUCED": "te", "SUPERSEDES": "ee"}
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
PLACE = st.integers(0, 9)  # a node, counted round
VECTOR = st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3)
STRENGTH = st.one_of(st.floats(0, 1), st.sampled_from([1.5, float("nan")]))

CREATE = st.tuples(st.just("create"), st.sampled_from("te"), TEXT, VECTOR, st.sampled_from(["", *IDS]))
CHANGE = st.one_of(
    st.tuples(st.just("task"), PLACE, st.none() | st.sampled_from(list(TaskStatus)), st.none() | TEXT),
    st.tuples(st.just("evidence"), PLACE, st.none() | STRENGTH, st.none() | st.booleans()),
    st.tuples(st.just("state"), st.integers(0, 9), TEXT),
)
# Mostly between nodes that the edge may join, else between any two.
FITTING = st.sampled_from([True, True, True, False])
LINK = st.one_of(
    st.tuples(st.just("edge"), st.sampled_from(list(ENDS)), PLACE, PLACE, FITTING),
    st.tuples(st.just("similar"), st.sampled_from(["tt", "ee"]), PLACE, PLACE, FITTING, st.floats(0, 1)),
    st.tuples(st.just("unsimilar"), st.sampled_from(["tt", "ee"]), PLACE, PLACE, FITTING),
)
# Tasks that run to their end, so that what is frozen comes up often enough.
FINISH = st.tuples(PLACE, st.sampled_from([TaskStatus.DONE, TaskStatus.FAILED]), TEXT).map(
    lambda drawn: [("task", drawn[0], TaskStatus.ACTIVE, None), ("task", *drawn)]
)
OPERATIONS = st.lists(
    st.one_of(
        st.lists(CREATE, min_size=1, max_size=3),
        CHANGE.map(lambda o: [o]),
        FINISH,
        st.lists(LINK, min_size=2, max_size=5),
    ),
    min_size=2,
    max_size=7,
).map(lambda groups: [operation for group in groups for operation in group])


SEQUENCES = 80


class Model:
    def __init__(self):
        self.nodes = {}
        self.edges = {}
        self.iterations, self.message = 0, ""

    def at(self, place):
        return list(self.nodes)[place % len(self.nodes)]

    def ends(self, letters, first, second, fitting):
        """The two nodes that an edge's numbers stand for."""
        if not fitting:
            return self.at(first), self.at(second)
        among = [[i for i, node in self.nodes.items() if node["letter"] == letter] for letter in letters]
        source, target = (ids[place % len(ids)] for ids, place in zip(among, (first, second), strict=True))
        return (source, target)

    def verdict(self, operation):
        """The error that the operation must raise, None when it must succeed."""
        match operation:
            case ("create", _, _, _, node_id):
                return DuplicateError if node_id in self.nodes else None
            case ("task" | "evidence" as kind, place, value, _):
                node = self.nodes[self.at(place)]
                if node["letter"] != kind[0]:
                    return InvalidValueError
                if kind == "evidence":
                    return None if value is None or 0 <= value <= 1 else InvalidValueError
                if node["status"] in ("DONE", "FAILED"):
                    return ImmutableNodeError
                moved = value is not None and value != node["status"]
                return ImmutableNodeError if moved and (node["status"], value) not in MOVES else None
            case ("edge", edge_type, *places):
                ids = self.ends(ENDS[edge_type], *places)
                source, target = (self.nodes[node_id] for node_id in ids)
                if source["letter"] + target["letter"] != ENDS[edge_type]:
                    return InvalidValueError
                if edge_type == "SUPERSEDES" and ids[0] == ids[1]:
                    return InvalidValueError
                frozen = [source, target] if edge_type == "SUBTASK_OF" else [source]
                if any(node.get("status") in ("DONE", "FAILED") for node in frozen):
                    return ImmutableNodeError
                return DuplicateError if (edge_type, *ids) in self.edges else None
            case ("similar", letters, *places, _):
                source, target = (self.nodes[node_id] for node_id in self.ends(letters, *places))
                same = source["letter"] == target["letter"]
                return None if same and source["sequence"] < target["sequence"] else InvalidValueError
        return None

    def apply(self, operation, result):
        match operation:
            case ("create", letter, text, vector, _):
                digits = result.id.replace("-", "")
                taken = {node["short_id"] for node in self.nodes.values()}
                lengths = (length for length in range(4, 33) if f"{letter}-{digits[:length]}" not in taken)
                self.nodes[result.id] = {
                    "letter": letter,
                    "short_id": f"{letter}-{digits[: next(lengths)]}",
                    "sequence": 1 + sum(node["letter"] == letter for node in self.nodes.values()),
                    "text": text,
                    "embedding": np.array(vector, dtype=np.float32).tobytes(),
                    **(
                        {"status": "PENDING", "result": ""}
                        if letter == "t"
                        else {"strength": 0.5, "superseded": False}
                    ),
                }
            case ("task", place, status, summary):
                changes = {"status": status, "result": summary}
                self.nodes[self.at(place)].update({k: v for k, v in changes.items() if v is not None})
            case ("evidence", place, strength, superseded):
                changes = {"strength": strength, "superseded": superseded}
                self.nodes[self.at(place)].update({k: v for k, v in changes.items() if v is not None})
            case ("edge", edge_type, *places):
                self.edges[edge_type, *self.ends(ENDS[edge_type], *places)] = None
            case ("similar", letters, *places, cosine):
                self.edges["SIMILAR_TO", *self.ends(letters, *places)] = cosine
            case ("unsimilar", letters, *places):
                self.edges.pop(("SIMILAR_TO", *self.ends(letters, *places)), None)
            case ("state", iterations, message):
                self.iterations, self.message = iterations, message

    def has_cycle(self):
        below = {}
        for edge_type, source, target in self.edges:
            if edge_type in ("SUBTASK_OF", "DEPENDS_ON"):
                below.setdefault(source, set()).add(target)
        reach = {node: set(targets) for node, targets in below.items()}
        for middle, first in itertools.product(list(reach), list(reach)):
            if middle in reach[first]:
                reach[first] |= reach[middle]
        return any(node in targets for node, targets in reach.items())


def perform(tx, model, operation):
    match operation:
        case ("create", letter, text, vector, node_id):
            values = {
                "embed_text": text,
                "embedding": np.array(vector, dtype=np.float32),
                "id": NodeId(node_id),
            }
            if letter == "t":
                return tx.create_node(TaskNode(text, **values))
            return tx.create_node(EvidenceNode(text, strength=0.5, base_strength=0.25, **values))
        case ("task", place, status, summary):
            return tx.update_node(model.at(place), TaskPatch(status=status, result_summary=summary))
        case ("evidence", place, strength, superseded):
            return tx.update_node(model.at(place), EvidencePatch(strength, superseded))
        case ("edge", edge_type, *places):
            return tx.create_edge(Edge(EdgeType(edge_type), *model.ends(ENDS[edge_type], *places)))
        case ("similar", letters, *places, cosine):
            edge = Edge(EdgeType.SIMILAR_TO, *model.ends(letters, *places), Similarity(cosine))
            return tx.upsert_similar([edge])
        case ("unsimilar", letters, *places):
            return tx.delete_similar([Edge(EdgeType.SIMILAR_TO, *model.ends(letters, *places))])
        case (_, iterations, message):
            return tx.update_session(SessionPatch(iterations=iterations, message=message, phase=None))


def seen(snapshot: GraphSnapshot):
    """A snapshot in the model's form; nodes and edges in order of creation."""
    nodes = {}
    for node in (*snapshot.tasks.values(), *snapshot.evidence.values()):
        values = {"short_id": node.short_id, "sequence": node.sequence, "embedding": node.embedding.tobytes()}
        if isinstance(node, TaskNode):
            values |= {
                "letter": "t",
                "text": node.description,
                "status": node.status,
                "result": node.result_summary,
            }
        else:
            values |= {
                "letter": "e",
                "text": node.content,
                "strength": node.strength,
                "superseded": node.superseded,
            }
            assert node.base_strength == 0.25
        nodes[node.id] = values
    edges = [(key, edge.similarity and edge.similarity.cosine) for key, edge in snapshot.edges.items()]
    links = [(key, tuple(ends)) for key, ends in (*snapshot._out.items(), *snapshot._in.items()) if ends]
    return nodes, edges, sorted(links)


class StoreMachine(RuleBasedStateMachine):
    def __init__(self, url, counts):
        super().__init__()
        self.url = url
        self.counts = counts
        self.store = open_store(url)
        self.model = Model()

    @initialize(text=TEXT)
    def begin(self, text):
        root = TaskNode(text, text, np.zeros(3, dtype=np.float32))
        state = self.store.create_session(SessionState("s-1", "", NodeId(""), "g", "p", {}), root)
        self.snapshot = self.store.load_snapshot(state.session_id)
        self.model.apply(("create", "t", text, [0, 0, 0], ""), self.snapshot.root)
        self.lease = self.store.acquire_lease(state.session_id, "host/1/x/a", seconds=3600)
        nodes = [("create", letter, letter, [0.5, 0, number], "") for number in range(3) for letter in "te"]
        self.transact_all(nodes, False)

    @rule(operations=OPERATIONS, break_off=st.booleans())
    def transact(self, operations, break_off):
        self.transact_all(operations, break_off)

    def transact_all(self, operations, break_off):
        """Refused operations are caught and skipped, or break the transaction off."""
        trial, error = copy.deepcopy(self.model), None
        try:
            with self.store.transaction(self.lease) as tx:
                for operation in operations:
                    error = trial.verdict(operation)
                    try:
                        result = perform(tx, trial, operation)
                    except (DuplicateError, ImmutableNodeError, InvalidValueError) as raised:
                        assert type(raised) is error, operation  # noqa: PT017
                        self.counts["operations refused"] += 1
                        if break_off:
                            raise
                    else:
                        assert error is None, operation
                        self.counts["operations"] += 1
                        trial.apply(operation, result)
                error = CycleError if trial.has_cycle() else None
        except (DuplicateError, ImmutableNodeError, InvalidValueError, CycleError) as raised:
            assert type(raised) is error  # noqa: PT017
            self.counts["transactions rolled back"] += 1
        else:
            assert error is None
            self.counts["transactions"] += 1
            self.model = trial
            self.snapshot.apply(tx.delta)

    @rule(operations=OPERATIONS)
    def transact_more(self, operations):
        self.transact_all(operations, False)

    @rule()
    def reopen(self):
        self.store.close()
        self.store = open_store(self.url)

    @rule(force=st.booleans())
    def take_over(self, force):
        old = self.lease
        self.store.release_lease(old)
        try:
            self.lease = self.store.acquire_lease("s-1", "host/1/x/b", seconds=3600, force=force)
        except NoProgressError:
            assert not force
            self.lease = self.store.acquire_lease("s-1", "host/1/x/b", seconds=3600, force=True)
        assert self.lease.epoch == old.epoch + 1
        lost = False
        try:
            with self.store.transaction(dataclasses.replace(self.lease, epoch=old.epoch)) as tx:
                tx.update_session(SessionPatch(message="from the grave"))
        except SessionLostError:
            lost = True
        assert lost

    @invariant()
    def the_store_the_followed_snapshot_and_the_model_agree(self):
        if not self.model.nodes:
            return
        loaded = self.store.load_snapshot("s-1")
        nodes, edges, _ = seen(loaded)
        assert nodes == self.model.nodes
        assert sorted(edges) == sorted(self.model.edges.items())
        assert seen(loaded) == seen(self.snapshot)
        state = self.store.load_session("s-1")
        assert (state.iterations, state.message) == (self.model.iterations, self.model.message)

    def teardown(self):
        self.store.close()


def test_any_sequence_of_transactions_leaves_what_a_plain_model_says(place, tmp_path, record_property):
    counts = collections.Counter()

    def machine():
        folder = tmp_path / str(counts["sequences"])
        folder.mkdir()
        counts["sequences"] += 1
        return StoreMachine(place(folder), counts)

    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=SEQUENCES,
            stateful_step_count=12,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert counts["sequences"] >= SEQUENCES
    # Shown at the end of the run: a test that draws little proves little.
    record_property("drawn", ", ".join(f"{number} {what}" for what, number in counts.items()))
