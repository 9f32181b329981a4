"""Bytes to text: byte order marks, UTF-8, UTF-16 without a mark, UTF-8 with stray bytes, older charsets."""

import codecs
import re

import charset_normalizer

from lethe_core.errors import SourceError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins it
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 256 * 1024
# Letters and signs of Western European text; a short text that decodes to nothing but these is windows-1252,
# which the statistical detector mistakes for Central European or Mac charsets.
_WESTERN = frozenset(
    "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿßÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞœŒŠšŽžŸ"
    "€£¥§©®°±²³´µ¶·¹º»«¼½¾¿¡‘’“”„‚–—…•™†\xa0"
)
# Control characters that text does not hold (tab, newlines, form feed and escape aside).
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f￾￿]")


def decode(data: bytes, *, declared: str = "") -> str:
    """Decode a text file's bytes; line ends become ``\\n``, NUL and other control characters go.

    declared: a charset that the document names itself; used when it decodes the bytes without an error.
    Raises SourceError when the bytes are no text.
    """
    text = _decode(data, declared)
    controls = len(_CONTROL.findall(text[:_SAMPLE]))
    if controls > 3 + 0.02 * min(len(text), _SAMPLE):
        raise SourceError("binary data, not text")
    text = _CONTROL.sub("", text).replace("\x0c", "\n\n").replace("﻿", "")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n\n")


def _decode(data: bytes, declared: str) -> str:
    for mark, charset in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(charset, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    wide = _wide_charset(data[:_SAMPLE])
    if wide:
        return data.decode(wide, "replace")
    if b"\0" in data[:_SAMPLE]:
        raise SourceError("binary data, not text")
    if _mostly_utf8(data):
        return data.decode("utf-8", errors="lethe-windows-1252")
    if declared:
        try:
            return data.decode(declared)
        except (LookupError, UnicodeDecodeError):
            pass
    high = bytes(byte for byte in data[:_SAMPLE] if byte >= 0x80)
    if len(high) < 0.45 * min(len(data), _SAMPLE) and set(high.decode("cp1252", "replace")) <= _WESTERN:
        return data.decode("cp1252", "replace")
    japanese = _japanese_charset(data[:_SAMPLE])
    if japanese:
        return data.decode(japanese, "replace")
    best = charset_normalizer.from_bytes(data[:_SAMPLE]).best()
    if best is None:
        raise SourceError("binary data, or text in a charset that could not be told")
    return data.decode(best.encoding, "replace")


def _wide_charset(sample: bytes) -> str:
    """UTF-16 without a mark: every second byte of Western text is zero."""
    pairs = len(sample) // 2
    if pairs < 4:
        return ""
    even, odd = sample[0 : 2 * pairs : 2].count(0), sample[1 : 2 * pairs : 2].count(0)
    if odd > 0.4 * pairs and even < 0.05 * pairs:
        return "utf-16-le"
    if even > 0.4 * pairs and odd < 0.05 * pairs:
        return "utf-16-be"
    return ""


def _japanese_charset(sample: bytes) -> str:
    """Kana tell Japanese from the Chinese and Korean charsets that share its bytes."""
    for charset in ("euc_jp", "shift_jis"):
        text = sample.decode(charset, "ignore")
        kana = sum(1 for character in text if "\u3041" <= character <= "\u30fe")
        wrong = sum(
            1 for character in text if "\uff61" <= character <= "\uff9f"
        )  # half-width, of misreadings
        if kana > 0.15 * len(text) and wrong < 0.02 * len(text):
            return charset
    return ""


def _mostly_utf8(data: bytes) -> bool:
    """Whether the bytes are UTF-8 but for a few strays: a page put together from two sources."""
    text = data[:_SAMPLE].decode("utf-8", "replace")
    strays = text.count("�")
    return strays * 3 <= sum(1 for character in text if ord(character) > 0x7F) - strays


def _as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error("lethe-windows-1252", _as_windows_1252)
