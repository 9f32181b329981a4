"""What is the same as what is known already (algorithms.md 8, "Deduplication").

Three layers, each for another failure: the address's fingerprint catches a page fetched again, the
content hash the same text from elsewhere, the cosine a paraphrase. A paraphrase is a duplicate only if
the fact guard lets it go (facts.py): a changed figure is news however alike the sentences are.
"""

import hashlib
import re
from collections.abc import Sequence
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

import numpy as np

from lethe_core.evidence.facts import adds_nothing, facts, stands_in
from lethe_core.graph.arrays import BoolArray, Matrix

_BLOCK = 1024  # rows of one cosine product: 1024 × 8192 float32 are 32 MB
_COLUMNS = 8192

_TRACKING = re.compile(
    r"(?:utm_.*|mc_[ce]id|_hs(?:enc|mi)|pk_.*|mtm_.*|hsa_.*|ga_.*|oly_.*|__hs.*|vero_.*|"
    r"fbclid|gclid|gclsrc|dclid|wbraid|gbraid|msclkid|yclid|twclid|ttclid|igshid|igsh|li_fat_id|"
    r"_ga|_gl|mkt_tok|ref_src|ref_url|cmpid|ncid|trk|s_kwcid|wt\.mc_id|at_(?:medium|campaign)|srsltid)",
    re.IGNORECASE,
)
_ARXIV_ID = re.compile(
    r"/(?:abs|pdf|html|format|ps|e-print|src|overview)/((?:[a-z-]+(?:\.[a-z]{2})?/\d{7})|\d{4}\.\d{4,5})"
    r"(?:v\d+)?(?:\.pdf|\.html?)?/?",
    re.IGNORECASE,
)
_ARXIV_HOSTS = frozenset({"arxiv.org", "ar5iv.org", "ar5iv.labs.arxiv.org", "alphaxiv.org", "xxx.lanl.gov"})
_VIDEO_PATH = re.compile(r"/(?:embed|shorts|live|v)/([\w-]{6,20})/?")
_MOBILE_WIKI = re.compile(
    r"\.m\.(wiki(?:pedia|data|source|books|news|quote|voyage|media)\.org|wiktionary\.org)$"
)
_PAGE_IN_PLACE = re.compile(r"(?:^| › )p\. \d+$")


def url_fingerprint(address: str) -> str:
    """The normal form of an address: equal for addresses that lead to the same page.

    Ignored: http or https, letter case of the host, "www.", credentials, default port, tracking
    parameters, the order of the others, fragment, trailing slash, needless percent-encoding. Known
    mirrors share one form (arXiv abstract, PDF and versions; DOI resolvers; YouTube's short links;
    mobile Wikipedia). The path of a local document is its own fingerprint; what cannot be parsed too.
    """
    address = address.strip()
    try:
        parts = urlsplit(address)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return address
    if parts.scheme.lower() not in ("http", "https") or not host:
        return address
    host = _plain_host(host)
    return _mirror(host, parts) or _normal(host, port, parts)


def content_hash(text: str) -> str:
    """SHA-256 (64 hex digits) of a text with every run of white space as one space, its ends cut."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


def identity_text(text: str, place: str) -> str:
    """What of a chunk is compared by hash, cosine guard and facts.

    Of a table's row its headings belong to it: "| fare | 3 |" under "Children" and under "Adults" are
    two facts. The page's number does not, and a text that is no row is compared as it is.
    """
    if not text.startswith("|"):
        return text
    headings = _PAGE_IN_PLACE.sub("", place)
    return f"{headings}\n{text}" if headings else text


def semantic_duplicates(
    new: Matrix,
    new_texts: Sequence[str],
    old: Matrix,
    old_texts: Sequence[str],
    threshold: float,
    *,
    old_counts: BoolArray | None = None,
) -> tuple[int, ...]:
    """Find, for each new text, the text that it repeats.

    new: (n, d), old: (m, d) unit float32; a zero vector repeats nothing. threshold: cosine, exceeded.
    old_counts: (m,) which of the old may be repeated; None: all.
    Returns n indexes into the old texts followed by the new (m + i is the new text i), -1 for one that
    is news. What a new text repeats is itself kept: an old text, or an earlier one of the batch that is
    news. Of several the most alike that the fact guard lets it be dropped for.
    """
    count, known = len(new_texts), len(old_texts)
    found = [-1] * count
    read: dict[int, tuple[str, ...]] = {}  # facts, once a text

    def text_of(index: int) -> str:
        return old_texts[index] if index < known else new_texts[index - known]

    def facts_of(index: int) -> tuple[str, ...]:
        if index not in read:
            read[index] = facts(text_of(index))
        return read[index]

    best_old = _above(new, old, threshold)
    best_new = _above(new, new, threshold, earlier=True)
    for index in range(count):
        candidates = [pair for pair in best_old[index] if old_counts is None or old_counts[pair[1]]]
        candidates += [(cosine, known + other) for cosine, other in best_new[index] if found[other] == -1]
        for _, other in sorted(candidates, key=lambda pair: (-pair[0], pair[1])):
            if adds_nothing(facts_of(known + index), facts_of(other)) or stands_in(
                new_texts[index], text_of(other)
            ):
                found[index] = other
                break
    return tuple(found)


def _above(
    left: Matrix, right: Matrix, threshold: float, *, earlier: bool = False
) -> list[list[tuple[float, int]]]:
    """Cosine and index of the right rows above the threshold, for each left row."""
    pairs: list[list[tuple[float, int]]] = [[] for _ in range(left.shape[0])]
    for top in range(0, left.shape[0], _BLOCK):
        rows = left[top : top + _BLOCK]
        limit = min(right.shape[0], top + rows.shape[0]) if earlier else right.shape[0]
        for begin in range(0, limit, _COLUMNS):
            products = rows @ right[begin : min(begin + _COLUMNS, limit)].T
            hits: BoolArray = products > threshold
            for row, column in zip(*np.nonzero(hits), strict=True):
                i, j = top + int(row), begin + int(column)
                if not earlier or j < i:
                    pairs[i].append((float(products[row, column]), j))
    return pairs


def _plain_host(host: str) -> str:
    try:
        host = host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        host = host.lower()
    return _MOBILE_WIKI.sub(r".\1", host.removeprefix("www."))


def _mirror(host: str, parts: SplitResult) -> str:
    path = unquote(parts.path)
    bare = host.removeprefix("export.")
    if bare in _ARXIV_HOSTS and (match := _ARXIV_ID.fullmatch(path)):
        return f"arxiv:{match[1].lower()}"
    if host in ("doi.org", "dx.doi.org") and path.startswith("/10."):
        return f"doi:{path[1:].rstrip('/').lower()}"
    video = ""
    if host == "youtu.be":
        video = path.strip("/")
    elif host in ("youtube.com", "m.youtube.com", "youtube-nocookie.com"):
        if path == "/watch":
            video = dict(parse_qsl(parts.query)).get("v", "")
        elif match := _VIDEO_PATH.fullmatch(path):
            video = match[1]
    return f"youtube:{video}" if video else ""


def _normal(host: str, port: int | None, parts: SplitResult) -> str:
    default = port in (None, 80, 443)
    path = quote(
        unquote(parts.path, errors="surrogateescape"), safe="/:@!$&'()*+,;=~", errors="surrogateescape"
    )
    path = re.sub(r"/{2,}", "/", path).rstrip("/")
    query = sorted(
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True, errors="surrogateescape")
        if not _TRACKING.fullmatch(name)
    )
    # A fragment that is a route of a one-page application names another page.
    route = f"#{parts.fragment}" if parts.fragment.startswith(("!", "/")) else ""
    written = f"?{urlencode(query, errors='surrogateescape')}" if query else ""
    return f"{host}{'' if default else f':{port}'}{path}{written}{route}"
