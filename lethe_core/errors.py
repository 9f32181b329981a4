"""Every error that Lethe raises on purpose.

LetheError                      exit code 1
├── UsageError                  2   an argument or a setting that cannot be used
│   ├── ConfigError             2   a value outside its range, an unknown name
│   ├── CorpusError             2   a folder that is missing or unreadable
│   └── CredentialsError        2   a key that is refused, a model that the server does not have
├── StoreError                  1   the graph store
│   ├── StoreUnavailableError   1   unreachable, unreadable, disk full
│   ├── StoreVersionError       2   written by another version, or filled by another embedding profile
│   ├── NodeNotFoundError       1
│   ├── DuplicateError          1   an id, a short id or an edge that exists already
│   ├── InvalidValueError       1   a value that the graph cannot hold (NaN, NUL, wrong dimension)
│   ├── ImmutableNodeError      1   a change to a DONE or FAILED task, or to what evidence must keep
│   └── CycleError              1   SUBTASK_OF or DEPENDS_ON would close a cycle
├── SessionError                1
│   ├── SessionNotFoundError    2
│   ├── SessionMismatchError    2   the id exists with another question
│   ├── SessionBusyError        6   another process holds the lease
│   │   └── SeriesBusyError     6   another run of the series is at work
│   ├── SessionLostError        6   this process held the lease and lost it
│   └── NoProgressError         1   three starts without a committed phase
├── ModelError                  4
│   ├── ModelUnavailableError   4   unreachable, overloaded, timed out: may pass later
│   └── ModelResponseError      4   answered, but with nothing that can be used
├── SearchError                 4
│   └── SearchUnavailableError  4
├── SourceError                 1   a document that cannot be read: skipped, counted and named
│   └── SourceAccessError       1   its file cannot be opened now; says nothing about its content
└── DinSyntaxError              1   a DIN-Read text that is none, or of another version

A message says what was wrong, with the value, where, and what to do about it.
"""


class LetheError(Exception):
    """The root of the tree."""

    exit_code = 1


class UsageError(LetheError):
    """An argument or a setting that cannot be used as given."""

    exit_code = 2


class ConfigError(UsageError):
    """A value outside its range, or a name that nothing answers to."""


class CorpusError(UsageError):
    """A corpus folder that is missing, unreadable or empty of readable documents."""


class CredentialsError(UsageError):
    """A refused key, or a model that the server does not have."""


class StoreError(LetheError):
    """The graph store could not do what was asked."""


class StoreUnavailableError(StoreError):
    """The store cannot be reached, opened or written to."""


class StoreVersionError(StoreError):
    """The store was written by another version or filled by another embedding profile."""

    exit_code = 2


class NodeNotFoundError(StoreError):
    """No node has this id in this session."""


class DuplicateError(StoreError):
    """A node or an edge with this identity exists already."""


class InvalidValueError(StoreError):
    """A value that the graph cannot hold: NaN, a NUL byte, a vector of another length."""


class ImmutableNodeError(StoreError):
    """A change to something that never changes: a terminal task, the content of evidence."""


class CycleError(StoreError):
    """SUBTASK_OF or DEPENDS_ON would close a cycle; nothing of the transaction remains."""


class SessionError(LetheError):
    """A session cannot be opened or continued."""


class SessionNotFoundError(SessionError):
    """No session has this id."""

    exit_code = 2


class SessionMismatchError(SessionError):
    """The session exists, with another question or another embedding profile."""

    exit_code = 2


class SessionBusyError(SessionError):
    """Another process holds the session's lease."""

    exit_code = 6


class SeriesBusyError(SessionBusyError):
    """Another session of the same series is at work: they go one after the other."""

    def __init__(self, message: str, session_id: str = "") -> None:
        super().__init__(message)
        self.session_id = session_id  # the one that is at work


class SessionLostError(SessionError):
    """This process held the session's lease and lost it: it must not write any more."""

    exit_code = 6


class NoProgressError(SessionError):
    """The session was started three times without committing a phase."""


class ModelError(LetheError):
    """The reasoning or the embedding model failed."""

    exit_code = 4


class ModelUnavailableError(ModelError):
    """The model cannot be reached or did not answer in time; it may pass later."""


class ModelResponseError(ModelError):
    """The model answered with something that cannot be used."""


class SearchError(LetheError):
    """A search failed."""

    exit_code = 4


class SearchUnavailableError(SearchError):
    """No search provider answered; it may pass later."""


class SourceError(LetheError):
    """A document that cannot be read: it is skipped, counted and named."""


class DinSyntaxError(LetheError):
    """A text that is no DIN-Read of this version, or data that none can be written from."""


class SourceAccessError(SourceError):
    """A file that cannot be opened now: that says nothing about its content and may pass."""
