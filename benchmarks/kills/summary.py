"""The campaign's numbers, for a person."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from lethe_core.session.record import Step

from .campaign import Outcome

PHASES: Final = (*(step.value for step in Step), "report", "after the end")


def summary(name: str, outcomes: Sequence[Outcome]) -> str:
    """Several lines; the last says whether all held."""
    kills = [kill for outcome in outcomes for kill in outcome.kills]
    by_phase = Counter(kill.phase for kill in kills)
    by_work = Counter(kill.inside for kill in kills)
    counted = [outcome.counted for outcome in outcomes]
    bought, committed = sum(c.bought for c in counted), sum(c.committed for c in counted)
    lost = sum(c.lost_calls for c in counted)
    equal = sum(not outcome.faults for outcome in outcomes)
    ends = sum(outcome.clean_ends for outcome in outcomes)
    lines = [
        f"{name}: {len(kills)} kills of {kills[0].victim if kills else 'nothing'}s",
        f"  before the phase   {_listed({phase: by_phase[phase] for phase in PHASES if by_phase[phase]})}",
        f"  in the middle of   {_listed(dict(by_work.most_common()))}",
        f"  sessions {len(outcomes)}, starts {sum(outcome.starts for outcome in outcomes)}"
        + (f", of them after a clean error {ends}" if ends else ""),
        f"  answers bought {bought} (the model server's log), committed {committed} (the graphs' tokens): "
        f"{bought - committed} extra, {lost} kills within a call",
        f"  sessions equal to the undisturbed one, every check held: {equal} of {len(outcomes)}",
    ]
    lines += [f"  FAULT in {outcome.name}: {fault}" for outcome in outcomes for fault in outcome.faults]
    return "\n".join(lines)


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"
