"""Cut a page into the chunks that become evidence (algorithms.md 8, "Chunking" and "Tables").

The chunks' spans partition the page's text: white space and headings belong to what follows them, blank
lines to what stands before. Prose aims at 100 to 500 characters and never exceeds 500; a list stays
whole with its lead-in and heading while it fits; a table gives one chunk a row, however short the page,
each repeating the header outside its span. Linear in the text, whatever it holds.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from lethe_core.evidence.blocks import Block, blocks, plain
from lethe_core.evidence.page import Chunk, ChunkKind, Page
from lethe_core.evidence.sentences import sentence_spans
from lethe_core.evidence.tables import Table, TableRow, render_row, row_text


@dataclass(frozen=True, slots=True)
class ChunkConfig:
    """Sizes in characters."""

    min_chars: int = 100  # what is shorter is merged with its neighbours
    max_chars: int = 500  # what is longer is split; a table's row may exceed it
    page_chars: int = 400  # a page shorter than this, without a table, is one chunk
    max_header_chars: int = 2000  # a table with a longer header is cut as prose, not repeated for each row
    max_caption_chars: int = 160
    max_heading_chars: int = 120  # of one heading in a place, and of a title in an embed_text


DEFAULT_CHUNKING = ChunkConfig()

# A hostile table must not blow up: its rendered rows may be this many times its own length.
_MAX_REPETITION = 32
_FREE_REPETITION = 1_000_000  # characters that are always allowed

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of text under one path of headings; ``first`` and ``last`` bound what is visible in it."""

    start: int
    end: int
    first: int
    last: int
    path: Path
    listed: int = 0  # characters of it that are lists
    items: tuple[int, ...] = ()  # where a list's items begin
    row: tuple[Table, TableRow] | None = None
    section: bool = False  # begins with its heading
    body: int = 0  # where its text begins behind its headings

    @property
    def size(self) -> int:
        return self.last - self.first


def chunk_page(page: Page, config: ChunkConfig = DEFAULT_CHUNKING) -> tuple[Chunk, ...]:
    """Cut a page into chunks whose spans, in order, are the whole of ``page.text``; none when it is blank.

    A prose or list chunk's ``text`` is its span stripped. A row's is header, dashes and row as a pipe
    table; its caption and headings are in ``place``, and the innermost of them in ``embed_text``.
    """
    text = page.text
    found = _pieces(text, config)
    if not found:
        return ()
    if not any(piece.row for piece in found) and found[-1].last - found[0].first < config.page_chars:
        pieces = [_joined(found)]
    else:
        pieces = [
            part for piece in _with_lead_ins(text, found, config) for part in _split(text, piece, config)
        ]
        pieces = _merge(_merge(pieces, config, across=False), config, across=True)
    return tuple(_chunk(page, piece, config) for piece in pieces)


def _pieces(text: str, config: ChunkConfig) -> list[_Piece]:
    """One piece a block or table row, headings glued to what follows them."""
    found: list[_Piece] = []
    path: list[tuple[int, str]] = []
    pending = -1  # where a heading begins that waits for its text
    waiting: list[Block] = []
    for block in blocks(text):
        if block.kind == "heading":
            if waiting and block.end - waiting[0].start > config.max_chars:
                found.append(_piece(text, pending, block.start, _names(path), section=True))
                waiting, pending = [], -1
            path = [(level, name) for level, name in path if level < block.level]
            path.append((block.level, block.heading[: config.max_heading_chars]))
            waiting.append(block)
            pending = block.start if pending < 0 else pending
            continue
        start = block.start if pending < 0 else pending
        section = pending >= 0
        waiting, pending = [], -1
        names = _names(path)
        table = block.table
        if table is not None and _repeatable(table, config):
            caption = "" if section else _caption(text, found, names, config)
            if caption:
                start = found.pop().start
                names = (*names, caption.rstrip(":"))
            found += _rows(table, start, block.end, names)
            continue
        piece = _piece(text, start, block.end, names, section=section, body=block.start)
        found.append(_listed(piece, block) if block.kind == "list" else piece)
    if pending >= 0:
        found.append(_piece(text, pending, len(text), _names(path), section=True))
    return found


def _piece(text: str, start: int, end: int, path: Path, *, section: bool = False, body: int = 0) -> _Piece:
    visible = text[start:end]
    first = start + len(visible) - len(visible.lstrip())
    last = start + len(visible.rstrip())
    return _Piece(start, end, first, last, path, section=section, body=body)


def _listed(piece: _Piece, block: Block) -> _Piece:
    return replace(piece, listed=piece.last - block.start, items=block.items)


def _names(path: Sequence[tuple[int, str]]) -> Path:
    return tuple(name for _, name in path if name)


def _repeatable(table: Table, config: ChunkConfig) -> bool:
    rows = sum(1 for row in table.rows if any(row.cells))
    header = sum(len(name) + 3 for name in table.header) + 6 * len(table.header)
    allowed = _FREE_REPETITION + _MAX_REPETITION * (table.span[1] - table.span[0])
    return rows > 0 and header <= config.max_header_chars and rows * header <= allowed


def _caption(text: str, found: list[_Piece], path: Path, config: ChunkConfig) -> str:
    """The line directly above a table that names it: it ends in a colon, or begins with "Table"."""
    if not found or found[-1].row is not None or found[-1].path != path or found[-1].listed:
        return ""
    line = text[found[-1].body : found[-1].end].strip()
    if len(line) > config.max_caption_chars or "\n" in line:
        return ""
    line = plain(line)
    named = line.lower().startswith(("table ", "tab. ", "tabelle ", "tableau ", "tabla "))
    return line if named or line.endswith(":") else ""


def _rows(table: Table, start: int, end: int, path: Path) -> Iterator[_Piece]:
    """A piece a row that has any cell; the header's span and that of empty rows go to a neighbour."""
    shown = [row for row in table.rows if any(row.cells)]
    edges = [start, *(row.span[0] for row in shown[1:]), end]
    for row, (begin, stop) in zip(shown, pairwise(edges), strict=True):
        first, last = row.span
        yield _Piece(begin, stop, first, last, path, row=(table, row))


def _with_lead_ins(text: str, pieces: Sequence[_Piece], config: ChunkConfig) -> list[_Piece]:
    """Join a list with the line that announces it, where both fit together."""
    found: list[_Piece] = []
    for piece in pieces:
        before = found[-1] if found else None
        if (
            before is not None
            and piece.listed
            and not before.listed
            and text.endswith(":", before.first, before.last)
            and piece.last - before.first <= config.max_chars
        ):
            # Counted as list as a whole: its lead-in is what makes it readable.
            found[-1] = replace(_joined([before, piece]), listed=piece.last - before.first)
        else:
            found.append(piece)
    return found


def _split(text: str, piece: _Piece, config: ChunkConfig) -> Iterator[_Piece]:
    """The piece itself when it fits; else parts that end at list items, sentences, or at the cap."""
    if piece.row is not None or piece.size <= config.max_chars:
        yield piece
        return
    atoms = list(_atoms(text, piece, config.max_chars))
    sizes = _pack([(a.first, a.last) for a in atoms], config)
    taken = 0
    for count in sizes:
        part = atoms[taken : taken + count]
        listed = part[-1].last - part[0].first if piece.listed else 0
        yield replace(_joined(part), listed=listed, section=piece.section and taken == 0)
        taken += count


def _atoms(text: str, piece: _Piece, cap: int) -> Iterator[_Piece]:
    """Items or sentences of the piece, those above the cap cut at white space or, without any, anywhere."""
    for start, end in _units(text, piece, cap):
        sentence = _piece(text, start, end, piece.path)
        while sentence.size > cap:
            limit = sentence.first + cap
            cut = max(text.rfind(space, sentence.first + cap // 2, limit + 1) for space in " \n\t")
            cut = cut if cut > sentence.first else limit
            rest = _piece(text, cut, sentence.end, piece.path)
            yield _piece(text, sentence.start, rest.first, piece.path)
            sentence = replace(rest, start=rest.first)
        yield sentence


def _units(text: str, piece: _Piece, cap: int) -> Iterator[tuple[int, int]]:
    """A list's items, as long as they fit; of anything else the sentences."""
    for begin, end in pairwise((piece.start, *piece.items[1:], piece.end)):
        if piece.items and len(text[begin:end].strip()) <= cap:
            yield begin, end
        else:
            yield from ((begin + start, begin + stop) for start, stop in sentence_spans(text[begin:end]))


def _pack(atoms: Sequence[tuple[int, int]], config: ChunkConfig) -> list[int]:
    """How many atoms each part takes: as many as fit, a short last part evened out with the one before."""
    sizes: list[int] = []
    begin = 0
    for index, (_, last) in enumerate(atoms):
        if index > begin and last - atoms[begin][0] > config.max_chars:
            sizes.append(index - begin)
            begin = index
    sizes.append(len(atoms) - begin)
    if len(sizes) < 2 or atoms[-1][1] - atoms[begin][0] >= config.min_chars:
        return sizes
    start = begin - sizes[-2]
    for cut in range(begin - 1, start, -1):
        front, back = atoms[cut - 1][1] - atoms[start][0], atoms[-1][1] - atoms[cut][0]
        if back > config.max_chars or front < config.min_chars:
            break
        if back >= config.min_chars:
            return [*sizes[:-2], cut - start, len(atoms) - cut]
    return sizes


def _merge(pieces: Iterable[_Piece], config: ChunkConfig, *, across: bool) -> list[_Piece]:
    """Merge pieces below the minimum with a neighbour, as long as both fit together.

    Within a section a short piece joins what stands beside it; across sections only short ones join,
    so that a short section keeps its own place beside long ones.
    """
    found: list[_Piece] = []
    for piece in pieces:
        before = found[-1] if found else None
        if (
            before is not None
            and before.row is None
            and piece.row is None
            and piece.last - before.first <= config.max_chars
            and _belong_together(before, piece, config.min_chars, across)
        ):
            found[-1] = _joined([before, piece])
        else:
            found.append(piece)
    return found


def _belong_together(before: _Piece, piece: _Piece, least: int, across: bool) -> bool:
    if across:
        return before.size < least and piece.size < least
    return before.path == piece.path and not piece.section and (before.size < least or piece.size < least)


def _joined(pieces: Sequence[_Piece]) -> _Piece:
    first, last = pieces[0], pieces[-1]
    path = first.path
    for piece in pieces[1:]:
        shared = 0
        while shared < min(len(path), len(piece.path)) and path[shared] == piece.path[shared]:
            shared += 1
        path = path[:shared]
    listed = sum(piece.listed for piece in pieces)
    return _Piece(first.start, last.end, first.first, last.last, path, listed=listed, section=first.section)


def _chunk(page: Page, piece: _Piece, config: ChunkConfig) -> Chunk:
    title = " ".join(page.title.split())[: config.max_heading_chars]
    place = [*piece.path]
    if page.page_starts:
        place.append(f"p. {max(1, bisect_right(page.page_starts, piece.first))}")
    kind: ChunkKind
    if piece.row is not None:
        table, row = piece.row
        kind, text = "row", render_row(table.header, row.cells)
        inner = piece.path[-1] if piece.path and piece.path[-1] != title else ""
        spoken = [title, inner, row_text(table.header, row.cells)]
    else:
        text = page.text[piece.first : piece.last]
        kind = "list" if 2 * piece.listed > piece.size else "prose"
        spoken = [title, text]
    embed_text = ". ".join(part for part in spoken if part)
    return Chunk(text, embed_text, (piece.start, piece.end), " › ".join(place), kind)
