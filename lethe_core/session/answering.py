"""Steps 7 and 8: one turn of the model, what is wrong with its answer, and the repair loop.

The answer is bought by ``ask`` and committed by ``judge`` as the phase ``answer``: between the two lies
Prefect's persisted result, so that an answer whose bytes arrived is never bought again.
"""

from dataclasses import replace
from typing import Any, Final

from lethe_core.config import Settings
from lethe_core.control.budget import thinking_tokens
from lethe_core.din.build import answer_context as context_of
from lethe_core.din.operations import AnswerContext, operations_schema
from lethe_core.din.parse import ParsedAnswer, validate_answer
from lethe_core.din.repair import repair_prompt
from lethe_core.errors import LetheError
from lethe_core.graph.nodes import EvidenceKind
from lethe_core.graph.session_state import AnswerRecord, SessionPatch
from lethe_core.reasoning.protocol import Answer, Prompt
from lethe_core.session.handle import SessionHandle
from lethe_core.session.record import REPAIR_ROUNDS, next_round
from lethe_core.session.stopping import last_signals

NOT_ASKED: Final = "cap:"  # begins the failure of a call that was not made because of a cap


class CapReachedError(LetheError):
    """The next call would break a cap that the user gave."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the next call to the model would break the {reason.replace('_', ' ')}")
        self.reason = reason


def due_round(session: SessionHandle) -> int | None:
    """The round that the model is to be asked in now; None when its answers are all there."""
    record = session.record
    return next_round(record) if record.outcome is None else None


def ask(session: SessionHandle, round_number: int) -> Answer:
    """Step 7: ask the model, before the session's hard cap on time.

    Raises CapReachedError before a call that would break a token or cost cap, and what the reasoner raises.
    """
    prompt = prompt_for(session, round_number)
    keep_caps(session, prompt)
    return session.deps.reasoner.answer(prompt, deadline=session.deadline)


def prompt_for(session: SessionHandle, round_number: int) -> Prompt:
    """The prompt of a round: the iteration's own, or for a repair that and what was wrong.

    The last round asks for a single operation: a model that could not put several together twice still gets
    one thing done, and a server that keeps to a schema cannot but answer with a valid one. Measured with a
    model of 135M parameters: 1 of 12 first answers was valid, and few of the first repairs.
    """
    record = session.record
    user, single = record.prompt, round_number == REPAIR_ROUNDS
    if round_number:
        last = record.answers[round_number - 1]
        user = repair_prompt(record.prompt, last.text, last.errors, single=single)
    return Prompt(
        system=record.system,
        user=user,
        schema=operations_schema(answer_context(session), single=single),
        thinking_tokens=thinking_tokens(
            session.deps.budget,
            last_signals(session.state).complexity,
            record.pressure,
            repair_round=round_number,
        ),
        max_answer_tokens=session.deps.settings.llm_max_answer_tokens,
    )


def judge(session: SessionHandle, round_number: int, answer: Answer | LetheError) -> list[str]:
    """Step 8: commit the round's answer with what is wrong with it; returns the errors."""
    record = session.record
    if len(record.answers) > round_number:
        return list(record.answers[round_number].errors)
    state = session.state
    if isinstance(answer, LetheError):
        failure = f"{NOT_ASKED}{answer.reason}" if isinstance(answer, CapReachedError) else str(answer)
        kept = AnswerRecord(round=round_number, text="", model="", tokens=0, failure=failure)
    else:
        kept = AnswerRecord(
            round=round_number,
            text=answer.text,
            model=answer.model,
            tokens=answer.prompt_tokens + answer.completion_tokens,
            cost=cost_of(session.deps.settings, answer.prompt_tokens, answer.completion_tokens),
            errors=tuple(validate_answer(answer.text, answer_context(session)).errors),
        )
    models = state.models if not kept.model or kept.model in state.models else (*state.models, kept.model)
    with session.write() as tx:
        tx.update_session(
            SessionPatch(
                phase=replace(record, answers=(*record.answers, kept)),
                tokens=state.tokens + kept.tokens,
                cost=state.cost + kept.cost,
                models=models,
                message=_trouble(kept),
            )
        )
    return list(kept.errors)


def _trouble(answer: AnswerRecord) -> str:
    """What a person is told when the session ends for want of answers; empty when this one can be used."""
    if answer.failure:
        return "" if answer.failure.startswith(NOT_ASKED) else answer.failure
    if answer.errors:
        return f"{answer.model} answered, but not with valid operations; the last time: {answer.errors[0]}"
    return ""


def valid_answer(session: SessionHandle) -> ParsedAnswer | None:
    """The operations of the last answer; None when no round gave valid ones."""
    answers = session.record.answers
    if not answers or answers[-1].failure or answers[-1].errors:
        return None
    return validate_answer(answers[-1].text, answer_context(session))


def answer_context(session: SessionHandle) -> AnswerContext:
    """What an answer of the open iteration may refer to."""
    record = session.record
    return context_of(session.snapshot, record.task, record.packed, session.deps.tools)


def as_record(answer: Answer) -> dict[str, Any]:
    """An answer as plain values, for a persisted result."""
    return {
        "text": answer.text,
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "model": answer.model,
    }


def citable_ids(session: SessionHandle) -> frozenset[str]:
    """Short ids that count as in the model's context: packed, or cited by a packed synthesis."""
    snapshot = session.snapshot
    packed = [snapshot.evidence[node] for node in session.record.packed if node in snapshot.evidence]
    ids = {node.short_id for node in packed}
    for node in packed:
        if node.kind is EvidenceKind.SYNTHESIS:
            ids.update(chunk.short_id for chunk in snapshot.chunks_under(node))
    return frozenset(ids)


def keep_caps(session: SessionHandle, prompt: Prompt) -> None:
    """Raise CapReachedError when the call could break a cap that the user gave."""
    settings, state, reasoner = session.deps.settings, session.state, session.deps.reasoner
    # The extractive reasoner spends nothing.
    if reasoner.extractive or (settings.max_tokens is None and settings.max_cost is None):
        return
    sent = session.deps.tokens.count(prompt.system) + session.deps.tokens.count(prompt.user)
    received = prompt.max_answer_tokens + prompt.thinking_tokens
    if settings.max_tokens is not None and state.tokens + sent + received > settings.max_tokens:
        raise CapReachedError("token_cap")
    if settings.max_cost is not None and state.cost + cost_of(settings, sent, received) > settings.max_cost:
        raise CapReachedError("cost_cap")


def cost_of(settings: Settings, prompt_tokens: int, completion_tokens: int) -> float:
    """What a call costs by the configured prices a million tokens; 0 without prices."""
    prompt, completion = settings.price_prompt or 0.0, settings.price_completion or 0.0
    return (prompt_tokens * prompt + completion_tokens * completion) / 1e6
