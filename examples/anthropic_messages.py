"""An agent's loop over Anthropic messages whose context never outgrows its budget.

The model here is a script, so that the example runs without a network; a real client goes in `answer`.
"""

from typing import Any

from haversack.worklog import count_messages, fit_messages, open_log

BUDGET = 2_000
FILES = {f"src/module{number}.py": f"def function{number}():\n    return {number}\n" * 60 for number in range(8)}

log = open_log()  # in memory; open_log("agent.db") outlives the process
account = log.ledger.open(50_000).handle


def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """What the model says next: it reads one file after the other."""
    done = sum(message["role"] == "assistant" for message in messages)
    call = {"type": "tool_use", "id": f"toolu_{step}", "name": "read_file", "input": {"path": list(FILES)[step]}}
    return {"role": "assistant", "content": [{"type": "text", "text": f"{done} steps are in my context."}, call]}


def lines(text: str) -> str:
    return f"{text.count(chr(10))} lines, from {text.splitlines()[0]!r}"


history: list[dict[str, Any]] = [{"role": "user", "content": "Which module returns 7?"}]
for step in range(len(FILES)):
    sent = fit_messages(history, BUDGET, log=log, compressors={"read_file": lines})
    assert count_messages(sent) <= BUDGET
    reply = answer(sent)
    path = reply["content"][1]["input"]["path"]
    log.record(account, "read_file", {"path": path}, FILES[path], compressors={"read_file": lines})
    result = {"type": "tool_result", "tool_use_id": f"toolu_{step}", "content": FILES[path]}
    history += [reply, {"role": "user", "content": [result]}]

sent = fit_messages(history, BUDGET, log=log, compressors={"read_file": lines})
print(f"{count_messages(history):,} tokens of history, {count_messages(sent):,} sent")

first = sent[2]["content"][0]["content"]
print("the oldest result:", first)
key = first.split('more("')[1].split('"')[0]
print("read back whole:", log.expand(key) == FILES["src/module0.py"])
print("the newest is whole:", sent[-1]["content"][0]["content"] == FILES["src/module7.py"])

standing = log.ledger.standing(account)
print(f"{standing.remaining:,} of {standing.total:,} tokens remaining")
