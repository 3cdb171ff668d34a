"""What a pack leaves behind can be reached to the last memory."""

import json

import pytest

from haversack.app import Caller
from haversack.packs import candidates
from haversack.tools.road.call import call


@pytest.mark.parametrize("query", ["", "port gateway"])
def test_the_keys_of_a_pack_lead_to_every_memory_once(
    caller: Caller, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "OTHERS", 30)
    monkeypatch.setattr("haversack.memory.search.search.RANKED", 30)
    for number in range(230):
        call(caller, "mem_save", {"title": f"note {number}", "content": f"service {number} has port {7 * number}"})
    asked = {"query": query, "max_tokens": 3_000, "format": "json", "candidates": 20}
    reply = call(caller, "context_pack", asked)
    found = [each["id"] for each in json.loads(reply.text)["memories"]]
    assert reply.total == 230
    while reply.left:
        reply = call(caller, "more", {"key": reply.left.key, "max_tokens": 3_000, "format": "json"})
        found += [each["id"] for each in json.loads(reply.text)["memories"]]
    assert sorted(found) == list(range(1, 231))
