"""Every store: hostile and impossible values are stored exactly or refused, never altered."""

import dataclasses

import numpy as np
import pytest

from lethe_core.errors import InvalidValueError
from lethe_core.graph.nodes import EvidenceNode, TaskNode
from lethe_core.graph.patches import EvidencePatch, TaskPatch
from lethe_core.graph.session_state import SessionPatch

TASK_TEXTS = [f.name for f in dataclasses.fields(TaskNode) if f.type is str]
EVIDENCE_TEXTS = [f.name for f in dataclasses.fields(EvidenceNode) if f.type is str]

EXACT = {
    "SQL": "Robert'); DROP TABLE evidence; --",
    "Cypher": "`}) MATCH (n) DETACH DELETE n //",
    "format": "%s {0} ${x} :name ?1 $1 @p",
    "emoji": "👩🏽‍🔬 — 𝕏 \U0010ffff",
    "bidi": "\u202eevil\u202c\ufeff\u200b",
    "unnormalised": "e\u0301 \u00e9 \ufb01",
    "controls": "\r\n\t\v\f\x01\x1b[31m\x7f\x85\u2028",
    "spaces": "  \n both ends \n ",
    "noncharacter": "\ufffe\uffff",
    "empty": "",
    "number": "007",
    "JSON": '{"a": "\\u0000"}',
}


@pytest.mark.parametrize("text", EXACT.values(), ids=EXACT)
def test_text_is_stored_exactly(world, text):
    delta = world.write(
        lambda tx: (
            tx.create_node(world.new_task(text, **dict.fromkeys(TASK_TEXTS[1:], text))),
            tx.create_node(world.new_evidence(text, **dict.fromkeys(EVIDENCE_TEXTS[1:], text))),
            tx.update_session(SessionPatch(message=text, config={text: [text]}, sections={text: text})),
        )
    )
    snapshot = world.snapshot()
    task, evidence = (snapshot.node(node.id) for node in delta.created)
    assert [getattr(task, name) for name in TASK_TEXTS] == [text] * len(TASK_TEXTS)
    assert [getattr(evidence, name) for name in EVIDENCE_TEXTS] == [text] * len(EVIDENCE_TEXTS)
    state = world.store.load_session(world.id)
    assert (state.message, state.config, state.sections) == (text, {text: [text]}, {text: text})


def test_five_megabytes_of_text_are_stored_exactly(world):
    text = "Wörter ohne Ende — " * 250_000
    assert len(text.encode()) > 5_000_000
    (node,) = world.write(lambda tx: tx.create_node(world.new_evidence(text))).created
    assert world.snapshot().evidence[node.id].content == text


@pytest.mark.parametrize("name", TASK_TEXTS + [f"evidence.{name}" for name in EVIDENCE_TEXTS])
@pytest.mark.parametrize(("text", "why"), [("a\0b", "NUL byte at position 1"), ("ab\ud800", "surrogate")])
def test_nul_bytes_and_lone_surrogates_are_refused_in_every_text(world, name, text, why):
    kind, _, field = name.rpartition(".")
    node = world.new_evidence() if kind else world.new_task()
    bad = dataclasses.replace(node, **{field: text})
    with pytest.raises(InvalidValueError, match=f"{field}.*{why}"):
        world.write(lambda tx: tx.create_node(bad))


@pytest.mark.parametrize("name", ["result_summary", "prepared_prompt", "antifocus", "failure_reason"])
@pytest.mark.parametrize("text", ["a\0b", "\udc80", 7])
def test_a_patch_is_held_to_the_same_texts(world, name, text):
    with pytest.raises(InvalidValueError, match=name):
        world.write(lambda tx: tx.update_node(world.root, TaskPatch(**{name: text})))


VECTORS = {
    "NaN": np.array([np.nan, 0, 0, 0, 0, 1], dtype=np.float32),
    "infinite": np.array([np.inf, 0, 0, 0, 0, 1], dtype=np.float32),
    "short": np.ones(5, dtype=np.float32),
    "long": np.ones(7, dtype=np.float32),
    "none": np.zeros(0, dtype=np.float32),
    "matrix": np.ones((1, 6), dtype=np.float32),
    "float64": np.ones(6),
    "list": [1.0] * 6,
}


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_a_vector_that_is_not_the_session_s_is_refused(world, vector):
    for create in (world.new_task, world.new_evidence):
        with pytest.raises(InvalidValueError, match="embedding"):
            world.write(lambda tx, c=create: tx.create_node(c(embedding=vector)))
    if not (isinstance(vector, np.ndarray) and vector.shape == (0,)):  # a result may have none
        with pytest.raises(InvalidValueError, match="embedding"):
            world.write(lambda tx: tx.update_node(world.root, TaskPatch(result_embedding=vector)))


def test_the_zero_vector_stands_for_no_embedding(world):
    zero = np.zeros(6, dtype=np.float32)
    (node,) = world.write(lambda tx: tx.create_node(world.new_evidence("", embedding=zero))).created
    np.testing.assert_array_equal(world.snapshot().evidence[node.id].embedding, zero)


def test_embeddings_come_back_bit_for_bit(world):
    odd = np.array([-0.0, 1e-45, np.float32(1) / 3, -1, 3.4e38, 1.1754944e-38], dtype=np.float32)
    spread = np.arange(12, dtype=np.float32)[::2]  # not contiguous
    delta = world.write(
        lambda tx: [tx.create_node(world.new_evidence(embedding=vector)) for vector in (odd, spread)]
    )
    snapshot = world.snapshot()
    for node, vector in zip(delta.created, (odd, spread), strict=True):
        assert snapshot.evidence[node.id].embedding.tobytes() == vector.tobytes()


@pytest.mark.parametrize("name", ["strength", "base_strength"])
@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), float("inf"), "much", None])
def test_a_strength_outside_zero_to_one_is_refused(world, name, value):
    with pytest.raises(InvalidValueError, match=name):
        world.write(lambda tx: tx.create_node(world.new_evidence(**{name: value})))
    if name == "strength" and value is not None:
        found = world.evidence()
        with pytest.raises(InvalidValueError, match=name):
            world.write(lambda tx: tx.update_node(found, EvidencePatch(strength=value)))


@pytest.mark.parametrize("value", [-1, 2**63, 1.5, True, "3"])
def test_a_count_that_is_none_is_refused(world, value):
    for name in ("n_productive", "last_selected"):
        with pytest.raises(InvalidValueError, match=name):
            world.write(lambda tx, n=name: tx.update_node(world.root, TaskPatch(**{n: value})))
        with pytest.raises(InvalidValueError, match=name):
            world.write(lambda tx, n=name: tx.create_node(world.new_task(**{n: value})))


@pytest.mark.parametrize("span", [(5, 3), (-1, 3), (0, 2**70), (0.0, 1.0)])
def test_a_span_that_is_none_is_refused(world, span):
    with pytest.raises(InvalidValueError, match="span"):
        world.write(lambda tx: tx.create_node(world.new_evidence(span=span)))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "high"])
@pytest.mark.parametrize("name", ["cosine", "entail_fwd", "polarity"])
def test_a_score_that_is_no_number_is_refused(world, name, value):
    edge = world.similar(world.evidence(), world.evidence())
    bad = dataclasses.replace(edge, similarity=dataclasses.replace(edge.similarity, **{name: value}))
    with pytest.raises(InvalidValueError, match=name):
        world.write(lambda tx: tx.upsert_similar([bad]))


def test_a_session_s_first_vector_fixes_its_dimension(store, new_world):
    state = new_world.new_state("s-empty")
    for vector in (np.zeros(0, dtype=np.float32), np.ones((2, 2), dtype=np.float32), np.ones(3)):
        with pytest.raises(InvalidValueError, match="embedding"):
            store.create_session(state, TaskNode("q", "q", vector))
    assert store.list_sessions() == []
