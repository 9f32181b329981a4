"""What a pipeline does not let pass: checks of a finished report (architecture.md, "The report").

Pure. A gate fails a run whose report is written all the same; it never changes what the report says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, get_args

from lethe_core.report.document import Claim, Report
from lethe_core.report.model import Check
from lethe_core.report.outcome import CAPS

CHECKS: Final[tuple[Check, ...]] = get_args(Check)
NAMED: Final = 5  # claims named in a message; the JSON file has them all


@dataclass(frozen=True, slots=True)
class Failure:
    """A check that a report does not pass."""

    check: Check
    message: str
    claims: tuple[str, ...] = ()  # ids of the claims that it is about


def failures(report: Report, checks: Sequence[Check]) -> tuple[Failure, ...]:
    """The checks, of those asked for, that the report does not pass, in the order of CHECKS.

    unsupported: a claim that its sources do not support.
    contradiction: current sources that state different figures for the same thing.
    stale: a finding that rests on an edition that a newer one has replaced; what the report sets apart under
    "Older editions", beside what the newest one says, is not meant.
    no-evidence: a part of the question that nothing was found for, or no finding at all.
    partial: stopped at a limit before it was done.
    """
    found = (_CHECKS[check](report) for check in CHECKS if check in checks)
    return tuple(failure for failure in found if failure is not None)


def _unsupported(report: Report) -> Failure | None:
    claims = report.unsupported
    return _of_claims("unsupported", claims, "without support in the cited sources") if claims else None


def _contradiction(report: Report) -> Failure | None:
    claims = tuple(dict.fromkeys(claim for item in report.disagreements for claim in item.claims))
    return _of_claims("contradiction", claims, "contradicted by another source") if claims else None


def _stale(report: Report) -> Failure | None:
    apart = {item.claim.id for item in report.older}
    claims = tuple(claim for claim in report.findings if claim.edition == "older" and claim.id not in apart)
    return _of_claims("stale", claims, "resting on an older edition") if claims else None


def _no_evidence(report: Report) -> Failure | None:
    if not report.findings:
        return Failure("no-evidence", "nothing was found that answers the question")
    if missing := report.not_found:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        return Failure("no-evidence", f"nothing was found for: {missing[0].task[:120]}{more}")
    return None


def _partial(report: Report) -> Failure | None:
    reason = report.closing.stop_reason
    return Failure("partial", f"stopped by {reason} before it was done") if reason in CAPS else None


_CHECKS: Final = {
    "unsupported": _unsupported,
    "contradiction": _contradiction,
    "stale": _stale,
    "no-evidence": _no_evidence,
    "partial": _partial,
}


def _of_claims(check: Check, claims: Sequence[Claim], what: str) -> Failure:
    ids = tuple(claim.id for claim in claims)
    shown = ", ".join(ids[:NAMED]) + (", …" if len(ids) > NAMED else "")
    return Failure(check, f"{len(ids)} claim{'s' if len(ids) > 1 else ''} {what} ({shown})", ids)
