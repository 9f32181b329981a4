"""What retrieval is evaluated on: passages, and questions that say which of them answer."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    id: str
    title: str  # empty for none
    text: str

    @property
    def embed_text(self) -> str:
        """What is embedded and searched for words: title + ". " + text."""
        return f"{self.title}. {self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str
    gold: tuple[str, ...]  # ids of the supporting passages, at least one


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Passages with different ids, and questions whose gold ids are among them."""

    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]
