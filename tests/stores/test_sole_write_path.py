"""Only the graph store writes to the graph (principle P6): looked for in the text of every module."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
STORES = ROOT / "lethe_core" / "adapters" / "stores"
WRITES = re.compile(
    r"^\s*(?:import|from) neo4j\b"
    r"|(?i:INSERT INTO|UPDATE|DELETE FROM) (?:task|evidence|edge|session)\b"
    r"|\b(?:CREATE|MERGE|DETACH DELETE) \(?\w*:?(?:TaskNode|EvidenceNode|Lethe)\b",
    re.MULTILINE,
)


def modules():
    return [path for name in ("lethe_core", "flows", "tasks") for path in (ROOT / name).rglob("*.py")]


def test_no_module_but_the_stores_speaks_to_the_database():
    found = [path for path in modules() if WRITES.search(path.read_text(encoding="utf-8"))]
    assert found
    assert [path for path in found if path.parent != STORES] == []


def test_similar_edges_are_written_by_the_sync_alone():
    callers = {
        path.relative_to(ROOT).as_posix()
        for path in modules()
        if re.search(r"\.(?:upsert|delete)_similar\(", path.read_text(encoding="utf-8"))
    }
    assert callers == {"lethe_core/session/syncing.py"}


def test_the_server_of_the_tests_and_the_one_for_users_are_of_one_version():
    pom = (ROOT / "tests" / "neo4j" / "pom.xml").read_text(encoding="utf-8")
    compose = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    (version,) = re.findall(r"<neo4j\.version>([\d.]+)<", pom)
    assert re.findall(r"image: neo4j:([\d.]+)-community", compose) == [version]
