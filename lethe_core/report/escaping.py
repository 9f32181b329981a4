"""Makes text that others wrote harmless inside Markdown: it is shown, never obeyed.

A document, a file name or a model may have written anything: HTML, links, images, headings, table
pipes, invisible direction marks. Only **bold** is let through. What needs no escape gets none, so that
the Markdown still reads well as plain text.
"""

import re
import unicodedata

_INVISIBLE = re.compile(
    "[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ue000-\uf8ff]"
)
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\((?:[^()\n]|\([^()\n]{0,200}\)){0,2000}\)")
_SPECIAL = re.compile(r"[\\`*\[\]~]")
_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY = re.compile(r"&(?=#?\w{1,32};)")
_BOLD = re.compile(r"\\\*\\\*(?=\S)([^\n]{1,300}?)(?<=\S)\\\*\\\*")
_AUTOLINK = re.compile(
    r"(?i)\b(https?|ftp|mailto|xmpp|javascript|data|file)(:)|\b(www)(\.)|(?<=[\w.+-])(@)(?=\w)"
)
_LINE_START = re.compile(r"^(#{1,6}(?=\s|$)|[-+=>]|\d{1,9}(?=[.)](?:\s|$)))")
_WEB = re.compile(r"https?://[^\s<>\"'`|\\^{}\[\]]+", re.IGNORECASE)


def readable(text: str) -> str:
    """One line without control, direction and other invisible characters; unpaired surrogates replaced."""
    text = _INVISIBLE.sub("", text.encode("utf-8", "replace").decode("utf-8"))
    return " ".join(
        "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text).split()
    )


def inline(text: str) -> str:
    """Text for anywhere but the beginning of a line: links reduced to their words, bold kept."""
    # A link without words leaves white space, behind which a mark would no longer begin the text.
    text = _LINK.sub(r"\1", readable(text)).strip()
    text = _SPECIAL.sub(r"\\\g<0>", text)
    text = _UNDERSCORE.sub(r"\\_", text)
    text = _TAG.sub("&lt;", _ENTITY.sub("&amp;", text))
    text = _AUTOLINK.sub(lambda m: f"{m[1] or m[3] or ''}\\{m[2] or m[4] or m[5]}", text)
    return _BOLD.sub(r"**\1**", text)


def line(text: str) -> str:
    """Text that begins a line: it opens no heading, list, quotation or rule."""
    escaped = inline(text)
    if re.match(r"\d", escaped):
        return re.sub(r"^(\d{1,9})([.)])(?=\s|$)", r"\1\\\2", escaped)
    return _LINE_START.sub(r"\\\1", escaped)


def cell(text: str) -> str:
    """Text for a table's cell."""
    return inline(text).replace("|", "\\|")


def plain(text: str) -> str:
    """Text without its inline Markdown, for JSON and the like: one line, no emphasis, no link targets."""
    text = _LINK.sub(r"\1", readable(text))
    return re.sub(r"\*\*(?=\S)(.{1,300}?)(?<=\S)\*\*", r"\1", text)


def address(text: str) -> str:
    """A source's address: a link when it is a web address, else shown as it is."""
    if _WEB.fullmatch(text):
        return f"<{text}>"
    return inline(text)
