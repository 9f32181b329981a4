"""Reading a question set: corpus.jsonl and questions.jsonl, a JSON object a line.

corpus: ``{"id": …, "title": …, "text": …}``; questions: ``{"id": …, "question": …, "gold": [ids]}``. Further
fields are left alone. What cannot be used is refused with file and line: a figure from half a set is none.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from lethe_core.errors import UsageError
from lethe_core.evaluation.questions import Passage, Question, QuestionSet
from lethe_core.session.opening import checked_question


def _text(value: object) -> object:
    """Ids may be numbers."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Id = Annotated[str, BeforeValidator(_text), Field(min_length=1)]


class PassageRow(BaseModel):
    """A line of corpus.jsonl."""

    id: Id
    title: str = ""
    text: str


class QuestionRow(BaseModel):
    """A line of questions.jsonl."""

    id: Id
    question: str = Field(pattern=r"\S")
    gold: Annotated[list[Id], Field(min_length=1)]


Row = TypeVar("Row", PassageRow, QuestionRow)


def read_question_set(corpus: Path, questions: Path) -> QuestionSet:
    """Read both files. Raises UsageError naming the file, the line and what is wrong with it.

    Passages with the same title and text are one: nothing could tell which of them was found. The first
    stands for all, in the gold ids too.
    """
    passages: dict[str, Passage] = {}
    same: dict[tuple[str, str], str] = {}
    stands_for: dict[str, str] = {}
    for number, row in _rows(corpus, PassageRow):
        if row.id in stands_for:
            raise UsageError(f"{corpus}, line {number}: a second passage with the id {row.id!r}")
        stands_for[row.id] = same.setdefault((row.title, row.text), row.id)
        if stands_for[row.id] == row.id:
            passages[row.id] = Passage(row.id, row.title, row.text)
    asked: list[Question] = []
    ids: set[str] = set()
    for number, question in _rows(questions, QuestionRow):
        if question.id in ids:
            raise UsageError(f"{questions}, line {number}: a second question with the id {question.id!r}")
        ids.add(question.id)
        absent = [gold for gold in question.gold if gold not in stands_for]
        if absent:
            raise UsageError(f"{questions}, line {number}: no passage of {corpus} has the id {absent[0]!r}")
        gold = tuple(dict.fromkeys(stands_for[gold] for gold in question.gold))
        asked.append(Question(question.id, _checked(questions, number, question.question), gold))
    if not any(passage.embed_text.strip() for passage in passages.values()):
        raise UsageError(f"no passage of {corpus} holds any text")
    return QuestionSet(tuple(passages.values()), tuple(asked))


def _checked(path: Path, number: int, question: str) -> str:
    try:
        return checked_question(question)
    except UsageError as error:
        raise UsageError(f"{path}, line {number}: {error}") from None


def _rows(path: Path, kind: type[Row]) -> Iterator[tuple[int, Row]]:
    """The rows of a file with the numbers of their lines; blank lines are none."""
    found = False
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip(b"\xef\xbb\xbf \t\r\n"):
                    found = True
                    yield number, _row(path, number, line.removeprefix(b"\xef\xbb\xbf"), kind)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    if not found:
        raise UsageError(f"{path} holds no line: one JSON object a line is needed")


def _row(path: Path, number: int, line: bytes, kind: type[Row]) -> Row:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"{path}, line {number}: {f'{where}: ' if where else ''}{first['msg']} "
            f"(a line is {_EXAMPLES[kind]})"
        ) from None


_EXAMPLES: dict[type[BaseModel], str] = {
    PassageRow: '{"id": "p1", "title": "…", "text": "…"}',
    QuestionRow: '{"id": "q1", "question": "…", "gold": ["p1", "p2"]}',
}
