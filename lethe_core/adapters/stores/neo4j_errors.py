"""What Neo4j and its driver say, in our words: what happened, where, and what to do."""

from typing import Final

from neo4j.exceptions import (
    AuthConfigurationError,
    AuthError,
    ConfigurationError,
    ConstraintError,
    DriverError,
    Forbidden,
    ForbiddenOnReadOnlyDatabase,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
    UnsupportedServerProduct,
)

from lethe_core.adapters.stores.neo4j_address import PASSWORD, USER
from lethe_core.errors import (
    ConfigError,
    CredentialsError,
    DuplicateError,
    LetheError,
    StoreError,
    StoreUnavailableError,
    StoreVersionError,
)

_CREDENTIALS: Final = f"set {USER} and {PASSWORD} in the environment"

_READ_ONLY: Final = "the database is read-only: make it writable, or choose another --store"

# Named by their codes: the driver has no class of their own for them.
_BY_CODE: Final = {
    "Neo.ClientError.Security.CredentialsExpired": (
        CredentialsError,
        "the password has to be changed before it can be used: log in once with cypher-shell or the browser",
    ),
    "Neo.ClientError.Security.AuthenticationRateLimit": (
        CredentialsError,
        f"too many wrong passwords in a row: wait a moment, then {_CREDENTIALS}",
    ),
    "Neo.ClientError.Database.DatabaseNotFound": (
        ConfigError,
        "there is no such database on the server: name another one at the end of the URL, or none",
    ),
    **dict.fromkeys(
        (
            "Neo.ClientError.Transaction.TransactionTimedOut",
            "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration",
            "Neo.ClientError.Transaction.LockClientStopped",
        ),
        (StoreUnavailableError, "Neo4j took too long, or something else keeps the session locked"),
    ),
    "Neo.ClientError.General.WriteOnReadOnlyAccessDatabase": (StoreUnavailableError, _READ_ONLY),
    # Measured with a full disk: first the one, then the other until the server is started again.
    **dict.fromkeys(
        (
            "Neo.DatabaseError.Transaction.TransactionLogError",
            "Neo.DatabaseError.Transaction.TransactionCommitFailed",
            "Neo.DatabaseError.Transaction.TransactionStartFailed",
        ),
        (
            StoreUnavailableError,
            "the server's database could not write and stands still: check its disk and the room on it, then "
            "start the server again; what was committed is kept",
        ),
    ),
}


def passes_by_itself(error: Neo4jError) -> bool:
    """Whether trying again may help; the driver thinks so of a read-only database, too."""
    return error.is_retryable() and not isinstance(error, ForbiddenOnReadOnlyDatabase)


def translated(error: DriverError | Neo4jError, url: str) -> LetheError:
    """The error of ours that stands for one of the driver's."""
    kind, what = _explained(error)
    return kind(f"{what} ({url}; {' '.join(str(error).split())[:500]})")


def _explained(error: DriverError | Neo4jError) -> tuple[type[LetheError], str]:
    code = getattr(error, "code", None) or ""
    if code in _BY_CODE:
        return _BY_CODE[code]
    if isinstance(error, AuthError | AuthConfigurationError):
        return CredentialsError, f"Neo4j refuses the user or the password: {_CREDENTIALS}"
    if isinstance(error, Forbidden):
        return CredentialsError, (
            "the user may not do this in Neo4j: it has to read and write the database, and to make "
            "constraints and indexes when Lethe uses it for the first time"
        )
    if isinstance(error, ForbiddenOnReadOnlyDatabase):
        return StoreUnavailableError, _READ_ONLY
    if isinstance(error, UnsupportedServerProduct):
        return StoreVersionError, "this server is no Neo4j 5 or newer"
    if isinstance(error, ConfigurationError):
        return ConfigError, "the connection to Neo4j cannot be set up"
    if isinstance(error, ConstraintError):
        return DuplicateError, "a node with this id exists already"
    if "SSLCertVerificationError" in str(error):
        return StoreUnavailableError, (
            "the certificate of the Neo4j server is not trusted here, or is another host's: have this "
            "machine trust who signed it, or write +ssc in place of +s, which takes any certificate"
        )
    if isinstance(error, ServiceUnavailable | SessionExpired):
        return StoreUnavailableError, (
            "the Neo4j server does not answer: check that it runs, its address, and whether it wants TLS "
            "(neo4j+s://, bolt+s://)"
        )
    if isinstance(error, TransientError) or (isinstance(error, DriverError) and error.is_retryable()):
        return StoreUnavailableError, "Neo4j could not do it now, and may later"
    return StoreError, "Neo4j failed"
