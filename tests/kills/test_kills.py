"""Sessions that are killed at random moments and go on; `python -m benchmarks.kills` is the long form."""

import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.kills.campaign import Outcome, Setting, run_killed, run_undisturbed
from benchmarks.kills.corpus import write_corpus
from benchmarks.kills.servers import model_server

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, where a dead owner is seen at once"),
    pytest.mark.timeout(600),
]

SEED = 20


def killed(setting: Setting, kills: int) -> list[Outcome]:
    """So many kills, over as many sessions as it takes; each is checked against one that was left alone."""
    rng = random.Random(SEED)
    undisturbed = run_undisturbed(setting)
    outcomes: list[Outcome] = []
    while (left := kills - sum(len(outcome.kills) for outcome in outcomes)) > 0:
        outcomes.append(run_killed(setting, setting.session_name(len(outcomes)), left, rng, undisturbed))
    return outcomes


@pytest.fixture
def setting(tmp_path: Path) -> Iterator[Setting]:
    with model_server(tmp_path / "served.jsonl") as model:
        yield Setting(
            name="SQLite",
            through="loop",
            victim="session",
            folder=tmp_path,
            corpus=write_corpus(tmp_path / "crossings"),
            model=model,
            prefect_url="",
            store_url=lambda home: f"sqlite:///{home}/graph.db",
        )


@pytest.fixture
def on_neo4j(setting: Setting, empty_neo4j: Any, neo4j_server: Any) -> Setting:
    url = empty_neo4j()
    return replace(setting, name="Neo4j", store_url=lambda _: url, database=neo4j_server)


def test_sessions_killed_ten_times_end_as_if_they_had_not_been(setting: Setting) -> None:
    outcomes = killed(setting, 10)
    assert [outcome.faults for outcome in outcomes] == [()] * len(outcomes)
    assert sum(len(outcome.kills) for outcome in outcomes) == 10
    assert sum(outcome.starts for outcome in outcomes) == 10 + len(outcomes)
    for outcome in outcomes:
        assert outcome.counted.extra <= outcome.counted.lost_calls <= len(outcome.kills)


def test_sessions_killed_in_neo4j_end_as_if_they_had_not_been(on_neo4j: Setting) -> None:
    outcomes = killed(on_neo4j, 3)
    assert [outcome.faults for outcome in outcomes] == [()] * len(outcomes)
    assert sum(len(outcome.kills) for outcome in outcomes) == 3


def test_a_session_whose_database_server_is_killed_loses_and_repeats_nothing(on_neo4j: Setting) -> None:
    if on_neo4j.database is None:
        pytest.skip("the server is somebody else's: it cannot be killed")
    (outcome,) = killed(replace(on_neo4j, victim="server"), 1)
    assert outcome.faults == ()
    assert [kill.victim for kill in outcome.kills] == ["server"]
    assert outcome.counted.extra == 0


@pytest.mark.prefect
@pytest.mark.usefixtures("prefect_server")
def test_real_flows_that_are_killed_end_as_if_they_had_not_been(setting: Setting) -> None:
    from prefect.settings import PREFECT_API_URL

    outcomes = killed(replace(setting, through="flow", prefect_url=str(PREFECT_API_URL.value())), 3)
    assert [outcome.faults for outcome in outcomes] == [()] * len(outcomes)
    assert sum(len(outcome.kills) for outcome in outcomes) == 3
