"""``lethe eval``: what it prints, what it refuses, and that it needs no Prefect."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flows.cli import run

PASSAGES = [
    ("Tarn bridge", "The Tarn bridge is 412 metres long. It was opened by Ada Quill, the mayor of Orle."),
    ("Ada Quill", "Ada Quill was a glass blower before she went into politics. She was born in Lisk."),
    ("Lisk", "Lisk is a port. Its ferry carries 40 cars and stops in winter."),
    ("Old Mill", "The Old Mill of Orle grinds rye. It was built in 1788 and has two wheels."),
    ("Orle", "Orle is a town of 8,120 people on the river Tarn."),
    ("Butter", "Butter is made of cream, and cream of milk."),
]
QUESTIONS = [
    ("What was the trade of the mayor who opened the Tarn bridge?", [0, 1]),
    ("How many wheels has the Old Mill?", [3]),
]


def written(folder: Path, rows: list[Any], name: str) -> Path:
    path = folder / name
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    rows = [{"id": f"p{n}", "title": title, "text": text} for n, (title, text) in enumerate(PASSAGES)]
    return written(tmp_path, rows, "corpus.jsonl")


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    rows = [
        {"id": n, "question": text, "answer": "", "gold": [f"p{gold}" for gold in golds]}
        for n, (text, golds) in enumerate(QUESTIONS)
    ]
    return written(tmp_path, rows, "questions.jsonl")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def evaluated(*arguments: str | Path) -> int:
    return run(["eval", *map(str, arguments)])


def test_retrieval_prints_one_object_and_imports_no_prefect(
    corpus: Path, questions: Path, tmp_path: Path
) -> None:
    code = (
        "import sys; from flows.cli import run; code = run(sys.argv[1:]); "
        "assert 'prefect' not in sys.modules; sys.exit(code)"
    )
    arguments = ["--corpus", corpus, "--questions", questions, "--k", "1,4", "--json"]
    ended = subprocess.run(
        [sys.executable, "-c", code, "eval", "retrieval", *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    found = json.loads(ended.stdout)
    assert (found["schema"], found["n_passages"], found["n_questions"]) == (1, 6, 2)
    assert found["embedding"] == "wordllama-256"
    methods = ["dense", "bm25", "fusion", "ppr", "context", "first search", "second search"]
    assert [(one["method"], one["k"]) for one in found["measures"]] == [
        (m, k) for m in methods for k in (1, 4)
    ]
    for measure in found["measures"]:
        for interval in (measure["recall"], measure["all_evidence"]):
            assert 0.0 <= interval["low"] <= interval["mean"] <= interval["high"] <= 1.0
        assert measure["all_evidence"]["mean"] <= measure["recall"]["mean"]
    # One of the two questions has one passage that says it all, and every method finds that.
    at = {(one["method"], one["k"]): one["all_evidence"]["mean"] for one in found["measures"]}
    assert at["second search", 4] == 1.0
    assert min(at.values()) == 0.5
    assert "searching twice" in ended.stderr


def test_retrieval_prints_a_table_for_people(
    corpus: Path, questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluated("retrieval", "--corpus", corpus, "--questions", questions, "--k", "4") == 0
    out = capsys.readouterr().out
    assert out.startswith("2 questions over 6 passages, wordllama-256\n")
    assert "all evidence at 4" in out
    (line,) = [line for line in out.splitlines() if line.startswith("second search")]
    assert "1.000 [1.000, 1.000]" in line


def test_calibrate_prints_settings_that_can_be_used_as_they_stand(
    corpus: Path, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluated("calibrate", "--corpus", corpus, "--questions", questions) == 0
    printed = capsys.readouterr().out
    config = tmp_path / "made.toml"
    config.write_text(printed, "utf-8")
    arguments = ["--corpus", corpus, "--questions", questions, "--config", config, "--json"]
    assert evaluated("calibrate", *arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["profile"]["name"] == "wordllama-256"
    assert found["n_pairs"] == 6 * 5 // 2
    assert f"embedding_ga_floor = {found['profile']['ga_floor']:.3f}\n" in printed
    assert evaluated("retrieval", *arguments) == 0


BAD = {"id": "p9", "title": "t"}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"id": "a", "title": "t", "text": "x"}', "{not json"], "corpus.jsonl, line 2: Invalid JSON"),
        ([BAD], "corpus.jsonl, line 1: text: Field required"),
        (
            ['{"id": "a", "text": "x"}', "", '{"id": "a", "text": "y"}'],
            "line 3: a second passage with the id 'a'",
        ),
        (["[]"], "corpus.jsonl, line 1: "),
        ([], "corpus.jsonl holds no line"),
        (['{"id": "p0", "text": ""}', '{"id": "p1", "text": " "}', '{"id": "p3", "text": ""}'], "any text"),
    ],
)
def test_a_line_of_the_corpus_that_cannot_be_used_is_named(
    lines: list[Any], said: str, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, lines, "corpus.jsonl")
    assert evaluated("retrieval", "--corpus", path, "--questions", questions) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"id": "q", "question": "Who?", "gold": ["p77"]}, "line 1: no passage of"),
        ({"id": "q", "question": "Who?", "gold": []}, "line 1: gold: List should have at least 1 item"),
        ({"id": "q", "question": "  ", "gold": ["p1"]}, "line 1: question: "),
        ({"id": "q", "gold": ["p1"]}, "line 1: question: Field required"),
        ("\xff", "line 1: "),
        ({"id": "q", "question": "Who\0?", "gold": ["p1"]}, "line 1: the question holds a NUL byte"),
        ({"id": "q", "question": "w" * 8001, "gold": ["p1"]}, "line 1: the question has 8,001 characters"),
    ],
)
def test_a_line_of_the_questions_that_cannot_be_used_is_named(
    line: Any, said: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, [line], "questions.jsonl")
    assert evaluated("calibrate", "--corpus", corpus, "--questions", path) == 2
    assert said in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluated("retrieval", "--corpus", corpus, "--questions", "absent.jsonl") == 2
    assert "absent.jsonl cannot be read: No such file" in capsys.readouterr().err


def test_an_unknown_embedding_is_told_which_are_known(
    corpus: Path, questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--corpus", corpus, "--questions", questions, "--embedding", "word2vec"]
    assert evaluated("retrieval", *arguments) == 2
    said = capsys.readouterr().err
    assert "'word2vec'" in said
    assert "wordllama-256, sentence-transformers/all-MiniLM-L6-v2" in said
    assert "lethe eval calibrate" in said


@pytest.mark.parametrize("given", ["0", "five", "", "5,", "-1", "1001"])
def test_a_k_that_is_none_is_refused(
    given: str, corpus: Path, questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluated("retrieval", "--corpus", corpus, "--questions", questions, "--k", given) == 2
    assert "whole numbers from 1" in capsys.readouterr().err


def test_passages_that_say_the_same_are_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": f"p{n}", "title": t, "text": x} for n, (t, x) in enumerate([*PASSAGES, PASSAGES[3]])]
    corpus = written(tmp_path, rows, "corpus.jsonl")
    asked = {"id": "q", "question": "How many wheels has the Old Mill?", "gold": ["p6"]}
    questions = written(tmp_path, [asked], "questions.jsonl")
    assert evaluated("retrieval", "--corpus", corpus, "--questions", questions, "--k", "1", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n_passages"] == 6
    assert {one["recall"]["mean"] for one in found["measures"]} == {1.0}
