"""The same question on both stores gives the same report."""

import json
import re

import pytest


@pytest.fixture
def reports(lethe, corpus, question, empty_neo4j, neo4j_url, tmp_path):
    import os

    secrets = {name: value for name, value in os.environ.items() if name.startswith("LETHE_NEO4J_")}
    found = []
    for name, url in (("sqlite", f"sqlite:///{tmp_path}/graph.db"), ("neo4j", empty_neo4j())):
        out = tmp_path / name
        done = lethe(
            *("research", question, "--corpus", corpus, "--session", "s-same", "--store", url),
            *("--out", out, "--json", "--max-iterations", "3"),
            **secrets,
        )
        assert done.code == 0, done.err
        for secret in secrets.values():
            assert secret == "neo4j" or secret not in done.out + done.err
        found.append((json.loads(done.out), (out / "report.md").read_text(encoding="utf-8")))
    assert neo4j_url
    return found


def test_one_question_gives_one_report_on_both_stores(reports):
    (first, text), (second, other) = reports
    assert first["claims"]
    for made in (first, second):
        for name in ("seconds", "report"):
            del made[name]
    assert first == second
    at_work = re.compile(r", [\dhmins. ]+ at work\.")
    assert len(at_work.findall(text)) == 1
    assert at_work.sub("", text) == at_work.sub("", other)
