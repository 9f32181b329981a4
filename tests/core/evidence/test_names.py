import pytest

from lethe_core.evidence.names import names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It was directed by Christopher Nolan's brother.", ("Christopher Nolan",)),
        ("He studied at the University of Leeds.", ("University of Leeds",)),
        ("J. R. R. Tolkien met Dr. Smith.", ("J. R. R. Tolkien", "Dr. Smith")),
        ("Anna and Ben came.", ("Ben",)),
        ("Anna and Ben came to see Anna.", ("Anna", "Ben")),
        ("Sales rose. However, nobody came on Monday in May.", ()),
        ("It costs more in Zone A than in the US.", ("Zone A", "US")),
        ("In 2023 the iPhone sold.", ("iPhone",)),
        ("", ()),
    ],
)
def test_names_are_phrases_and_sentence_heads_are_doubted(text: str, found: tuple[str, ...]) -> None:
    assert names(text) == found
