"""The handling of each event of a host's session: what is stored, and the text for the host."""

import os
from collections.abc import Callable, Mapping

from haversack.app import App, Caller
from haversack.config import load
from haversack.hosts.hooks import server_notes
from haversack.hosts.hooks.command import BUSY_MILLISECONDS
from haversack.hosts.hooks.payloads import INJECTED, STARTED, SUMMARISED, Payload, clean_prompt
from haversack.hosts.host import Event, Host
from haversack.memory import sessions
from haversack.store import session_events
from haversack.store import sessions as session_table
from haversack.tools.road.call import call
from haversack.values import record, replace

_SAME_PROMPT = 60_000_000
"""Microseconds within which the same prompt of the same session is one prompt, reported by two hooks."""

_END_OF_TRANSCRIPT = 300_000
"""Bytes of a transcript that are read at the end of a turn: its last message stands there, and a hook has no time."""


def answer(host: Host, payload: Payload) -> str:
    """Store what an event reports and return the text for the host; empty for most events."""
    config = load()
    # A hook never loads a model, and there is no time to wait for a store that another process holds.
    config = replace(config, memory=replace(config.memory, semantic="off"))
    app = App(config, busy_milliseconds=BUSY_MILLISECONDS)
    directory = payload.directory if os.path.isdir(payload.directory) else os.getcwd()
    account = config.budget.account or server_notes.account_of_host(config.home, directory)
    caller = app.caller(directory=directory, account=account)
    if account and not _is_open(caller, account):
        caller = app.caller(directory=directory)
    try:
        _ensure(caller, payload)
        return _ANSWERS[payload.event](caller, host, payload)
    finally:
        app.close()


def _ensure(caller: Caller, payload: Payload) -> None:
    project = caller.memory.project()
    with caller.database.write() as tx:
        sessions.ensure(tx, caller.memory, session_id=payload.session_id, project=project, namespace="")


def _start(caller: Caller, host: Host, payload: Payload) -> str:
    if payload.usage:
        _usage(caller, host, payload)
    if payload.source in ("compact", "clear"):
        _reset_account(caller, host, payload)
    if "session-start" not in host.injects_at:
        return ""
    from haversack.hosts.hooks.recall import at_start

    return at_start(caller, host, payload)


def _prompt(caller: Caller, host: Host, payload: Payload) -> str:
    if not payload.prompt or payload.prompt.startswith("/"):
        return ""  # a command to the host, or text that no person typed
    if not _is_repeated(caller, payload):
        call(caller, "mem_save_prompt", {"content": payload.prompt, "session_id": payload.session_id})
        _declare_user(caller, host, payload)
    if "prompt" not in host.injects_at:
        return ""
    from haversack.hosts.hooks.recall import at_prompt

    return at_prompt(caller, host, payload)


def _is_repeated(caller: Caller, payload: Payload) -> bool:
    from haversack.text.redaction import redact

    content = redact(payload.prompt).text if caller.config.memory.redact else payload.prompt
    with caller.database.read() as tx:
        last = session_table.last_prompt_of_session(tx, payload.session_id)
    return last is not None and last.content == content and caller.now() - last.created_at < _SAME_PROMPT


def _tool(caller: Caller, host: Host, payload: Payload) -> str:
    from haversack.hosts.sessions.activity import events_of

    found = list(events_of(payload))
    if found:
        with caller.database.write() as tx:
            for kind, detail in found:
                session_events.add(tx, payload.session_id, kind, detail, caller.now())
    return ""


def _compacted(caller: Caller, host: Host, payload: Payload) -> str:
    payload = replace(payload, summary=payload.summary or _turn_facts(host, payload).summary)
    if _has_restarted(caller, payload):
        _declare_user(caller, host, replace(payload, prompt=payload.summary))
    else:
        _reset_account(caller, host, payload)
        with caller.database.write() as tx:
            session_events.forget(tx, payload.session_id, INJECTED)
    _keep_summary(caller, host, payload)
    return ""


def _keep_summary(caller: Caller, host: Host, payload: Payload) -> bool:
    """Store the host's own summary of a compaction; True when it was not stored before."""
    from haversack.digests import blake2b

    content = clean_prompt(host, payload.summary)
    mark = blake2b(content.encode(), digest_size=8).hexdigest()
    with caller.database.write() as tx:
        kept = {each.detail for each in session_events.of_session(tx, payload.session_id, SUMMARISED)}
        if not content or mark in kept:
            return False
        session_events.add(tx, payload.session_id, SUMMARISED, mark, caller.now())
    call(caller, "mem_session_summary", {"content": content, "session_id": payload.session_id})
    return True


def _has_restarted(caller: Caller, payload: Payload) -> bool:
    """Whether the host has reported the start after this compaction already, as some do before its end."""
    with caller.database.read() as tx:
        starts = session_events.of_session(tx, payload.session_id, STARTED)
    return bool(starts) and starts[-1].detail == "compact" and caller.now() - starts[-1].created_at < _SAME_PROMPT


def _before_compaction(caller: Caller, host: Host, payload: Payload) -> str:
    from haversack.hosts.sessions.digest import write

    write(caller, payload.session_id)  # stored now, in case the host fails before the session ends
    return ""


def _stop(caller: Caller, host: Host, payload: Payload) -> str:
    from haversack.hosts.sessions.digest import write

    told = _turn_facts(host, payload)
    if told.message.strip():
        from haversack.hosts.sessions.learnings import capture_learnings

        capture_learnings(caller, told.message, payload.session_id, host.name)
    if told.summary and not _reports_compaction(host):
        compacted = replace(payload, summary=told.summary)
        if _keep_summary(caller, host, compacted):
            _reset_account(caller, host, compacted)
    if told.context:
        _reconcile(caller, host, payload, told.context)
    write(caller, payload.session_id)
    return ""


def _reports_compaction(host: Host) -> bool:
    hooks = host.hooks or (host.plugin.hooks if host.plugin else None)
    return hooks is None or "after-compact" in hooks.events


@record
class _TurnFacts:
    """The facts of a finished turn: the agent's last message, the tokens in its context, the last summary."""

    message: str = ""
    context: int = 0
    summary: str = ""


def _turn_facts(host: Host, payload: Payload) -> _TurnFacts:
    """The facts of a turn from the payload, completed from the end of its transcript."""
    if not host.transcripts or not payload.transcript or not os.path.isfile(payload.transcript):
        return _TurnFacts(payload.last_message)
    from haversack.hosts.transcripts.items import read as read_transcript

    items = list(read_transcript(host.transcripts.reader, payload.transcript, last=_END_OF_TRANSCRIPT))
    answers = [item.text for item in items if item.kind == "answer"]
    figures = [item.context for item in items if item.kind == "usage" and item.context]
    summaries = [item.text for item in items if item.kind == "summary"]
    return _TurnFacts(
        payload.last_message or (answers[-1] if answers else ""),
        figures[-1] if figures else 0,
        summaries[-1] if summaries else "",
    )


def _end(caller: Caller, host: Host, payload: Payload) -> str:
    _stop(caller, host, payload)
    call(caller, "mem_session_end", {"id": payload.session_id})
    return ""


def _usage(caller: Caller, host: Host, payload: Payload) -> str:
    total = payload.usage.get("total_tokens") or sum(
        payload.usage.get(name, 0) for name in ("input_tokens", "output_tokens")
    )
    if total > 0:
        with caller.database.write() as tx:
            session_events.add(tx, payload.session_id, "usage", str(total), caller.now())
        _reconcile(caller, host, payload, payload.usage.get("input_tokens", total))
    return ""


def _declare_user(caller: Caller, host: Host, payload: Payload) -> None:
    if caller.account:
        tokens = caller.profile.count(payload.prompt)
        caller.ledger.declare_user(caller.account, tokens)
        _report(caller, payload, "declared", f"{tokens} {host.name}")


def _reset_account(caller: Caller, host: Host, payload: Payload) -> None:
    if caller.account:
        caller.ledger.compacted(caller.account, caller.profile.count(payload.summary))
        _report(caller, payload, "compacted", host.name)


def _reconcile(caller: Caller, host: Host, payload: Payload, context_tokens: int) -> None:
    """Record how many tokens the host's context holds, with the account's own estimate."""
    if caller.account:
        estimate = caller.ledger.standing(caller.account).spent
        _report(caller, payload, "reconciled", f"{context_tokens} {estimate} {host.name}")


def _report(caller: Caller, payload: Payload, kind: str, detail: str) -> None:
    """Record a host's report about an account, which `budget_status` names as the source."""
    with caller.database.write() as tx:
        session_events.add(tx, payload.session_id, kind, f"{caller.account} {detail}".rstrip(), caller.now())


def _is_open(caller: Caller, account: str) -> bool:
    from haversack.errors import Conflict, NotFound

    try:
        caller.ledger.in_force(account)
    except (NotFound, Conflict):
        return False
    return True


_ANSWERS: Mapping[Event, Callable[[Caller, Host, Payload], str]] = {
    "session-start": _start,
    "prompt": _prompt,
    "after-tool": _tool,
    "before-compact": _before_compaction,
    "after-compact": _compacted,
    "stop": _stop,
    "session-end": _end,
    "usage": _usage,
}
