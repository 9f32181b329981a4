"""Bytes to text: what people's files are written in, and what is no text at all."""

import codecs
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.adapters.sources.readers.charset import decode
from lethe_core.errors import SourceError

GERMAN = "Der Müller öffnete um 7 Uhr die Schleuse; das Rad drehte sich langsamer, größer war die Kälte."
GREEK = "Ο νερόμυλος χτίστηκε το 1887 και δούλευε μέχρι το τέλος του πολέμου, οπότε έκλεισε για πάντα."
RUSSIAN = "Мельница была построена в 1887 году и работала до конца войны, когда её закрыли навсегда."
JAPANESE = "水車小屋は一八八七年に建てられ、戦争が終わるまで動いていました。川の水位が下がったためです。"


@pytest.mark.parametrize(
    "charset", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_german_is_read_in_any_charset(charset: str) -> None:
    assert decode(GERMAN.encode(charset)) == GERMAN


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        (GREEK, "cp1253"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
    ],
)
def test_other_scripts_are_told_from_their_bytes(text: str, charset: str) -> None:
    assert decode((text * 3).encode(charset)) == text * 3


def test_a_declared_charset_is_believed_when_it_fits() -> None:
    assert decode("żółw".encode("cp1250"), declared="windows-1250") == "żółw"
    assert decode("größe".encode("cp1252"), declared="no-such-charset") == "größe"


def test_stray_bytes_do_not_spoil_utf8() -> None:
    data = GERMAN.encode() + b" f\xfcr alle"
    assert decode(data) == GERMAN + " für alle"


def test_line_ends_become_one_and_marks_go() -> None:
    assert decode("a\r\nb\rc\u2028d\x00\ufeff".encode()) == "a\nb\nc\nd"


@pytest.mark.parametrize("data", [os.urandom(4096), bytes(range(256)) * 4, b"\x00\x01\x02\x03" * 400])
def test_binary_data_is_refused(data: bytes) -> None:
    with pytest.raises(SourceError, match=r"binary|charset"):
        decode(data)


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=400))
def test_any_bytes_give_clean_text_or_a_reason(data: bytes) -> None:
    try:
        text = decode(data)
    except SourceError:
        return
    assert "\0" not in text
    assert "\r" not in text
    text.encode("utf-8")


@settings(max_examples=100, deadline=None)
@given(
    text=st.text(
        st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\ufeff\uffff\ufffe")
    )
)
def test_utf8_is_read_exactly(text: str) -> None:
    if not text.encode().startswith(codecs.BOM_UTF16_LE):
        assert decode(text.encode()) == text
