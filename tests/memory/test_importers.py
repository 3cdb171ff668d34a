"""Memories of other programs: files built to their public schemas come in with what they say, and only once."""

import json
import os
from collections import Counter
from pathlib import Path

import apsw
import pytest

from haversack.app import Caller
from haversack.errors import HaversackError, InvalidArgument, NotFound
from haversack.memory import sessions
from haversack.memory.importers import sources
from haversack.memory.transfer import json_lines as transfer
from haversack.memory.transfer.json_lines import Imported
from haversack.store import observations, relations
from haversack.store.records import Observation
from haversack.tools.road.call import call

MAY = 1_714_979_289_000_000
"""2024-05-06 07:08:09 UTC."""
SECRET = "ghp_" + "a1B2" * 9

ENGRAM = """
    CREATE TABLE sessions (id TEXT PRIMARY KEY, project TEXT NOT NULL, directory TEXT NOT NULL,
        started_at TEXT NOT NULL, ended_at TEXT, summary TEXT);
    CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, {sync} session_id TEXT NOT NULL,
        type TEXT NOT NULL, title TEXT NOT NULL, content TEXT NOT NULL, tool_name TEXT, project TEXT,
        scope TEXT NOT NULL DEFAULT 'project', topic_key TEXT, normalized_hash TEXT,
        revision_count INTEGER NOT NULL DEFAULT 1, duplicate_count INTEGER NOT NULL DEFAULT 1, last_seen_at TEXT,
        created_at TEXT NOT NULL, updated_at TEXT NOT NULL, deleted_at TEXT);
    CREATE TABLE user_prompts (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, content TEXT NOT NULL,
        project TEXT, created_at TEXT NOT NULL);
    INSERT INTO sessions VALUES ('s-1', 'shop', '/src/shop', '2024-05-06 07:00:00', '2024-05-06 08:00:00', 'done');
    INSERT INTO observations (session_id, type, title, content, project, scope, topic_key, created_at, updated_at,
        deleted_at) VALUES
        ('s-1', 'decision', 'Retry policy', 'Three times 汉字', 'shop', 'project', 'net/retry',
         '2024-05-06 07:08:09', '2024-05-06 07:08:09', NULL),
        ('s-1', 'bugfix', 'Mine', 'For me', 'shop', 'personal', NULL,
         '2024-05-06 07:08:09', '2024-05-06 07:08:09', NULL),
        ('s-1', 'bugfix', 'Gone', 'Gone', 'shop', 'project', NULL,
         '2024-05-06 07:08:09', '2024-05-06 07:08:09', '2024-05-07 00:00:00');
    INSERT INTO user_prompts VALUES (1, 's-1', 'why does it retry?', 'shop', '2024-05-06 07:01:00');
"""
CLAUDE_MEM = """
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT, project TEXT,
        started_at TEXT, started_at_epoch INTEGER, completed_at_epoch INTEGER, status TEXT);
    CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT,
        title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT,
        prompt_number INTEGER, created_at TEXT, created_at_epoch INTEGER);
    CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, request TEXT,
        investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, notes TEXT, created_at_epoch INTEGER);
    CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, content_session_id TEXT, prompt_number INTEGER,
        prompt_text TEXT, created_at TEXT, created_at_epoch INTEGER);
    INSERT INTO sdk_sessions VALUES (1, 'c-1', 'm-1', 'shop', '', 1714979000000, NULL, 'active');
    INSERT INTO observations VALUES (1, 'm-1', 'shop', NULL, 'discovery', 'Retry policy', 'Of the client',
        '["three times","then gives up"]', 'The client retries.', '["how-it-works"]', '["a.py"]', '[]', 1, '',
        1714979289000);
    INSERT INTO session_summaries VALUES (1, 'm-1', 'shop', 'Find the retries', 'a.py', 'Three times', 'All', NULL,
        NULL, 1714979289000);
    INSERT INTO user_prompts VALUES (1, 'c-1', 1, 'why does it retry?', '', 1714979001000);
"""
SHABKA = """
    CREATE TABLE memories (id TEXT PRIMARY KEY, kind TEXT, title TEXT, content TEXT, summary TEXT, tags TEXT,
        source TEXT, scope TEXT, importance REAL, status TEXT, privacy TEXT, verification TEXT, project_id TEXT,
        session_id TEXT, created_by TEXT, created_at TEXT, updated_at TEXT, accessed_at TEXT);
    CREATE TABLE relations (id INTEGER PRIMARY KEY, source_id TEXT, target_id TEXT, relation_type TEXT, strength REAL);
    INSERT INTO memories VALUES ('0b54', 'lesson', 'Retry policy', 'Three times', '', '["net"]', '"manual"',
        '"global"', 0.9, 'archived', 'private', 'verified', 'shop', NULL, '', '2024-05-06T07:08:09+00:00',
        '2024-05-06T07:08:09+00:00', '2024-05-06T07:08:09+00:00');
    INSERT INTO relations VALUES (1, '0b54', '0b54', 'related', 0.5);
"""
MEM0 = """
    CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,
        created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT);
    INSERT INTO history VALUES
        ('1', 'a', NULL, 'Likes tea', 'ADD', '2024-05-06T07:08:09+00:00', NULL, 0, NULL, NULL),
        ('2', 'a', 'Likes tea', 'Likes green tea', 'UPDATE', '2024-05-06T07:08:09+00:00',
         '2024-05-07T07:08:09+00:00', 0, NULL, NULL),
        ('3', 'b', NULL, 'Lives in Graz', 'ADD', '2024-05-06T07:08:09+00:00', NULL, 0, NULL, NULL),
        ('4', 'b', 'Lives in Graz', NULL, 'DELETE', '2024-05-06T07:08:09+00:00', NULL, 1, NULL, NULL);
"""


def database(path: Path, schema: str) -> str:
    connection = apsw.Connection(str(path))
    connection.execute(schema)
    connection.close()
    return str(path)


def carry(caller: Caller, source: str, path: str) -> tuple[Imported, dict[str, int]]:
    left: Counter[str] = Counter()
    done = transfer.import_foreign(caller.memory, sources.records(source, path, left), left)
    return done, {reason: count for reason, count in left.items() if count}


def held(caller: Caller) -> dict[str, Observation]:
    with caller.database.read() as tx:
        return {each.title: each for each in observations.everything(tx)}


def adds_nothing(caller: Caller, source: str, path: str) -> bool:
    before = list(transfer.export(caller.memory))
    done, _ = carry(caller, source, path)
    return (done.added, done.updated) == (0, 0) and list(transfer.export(caller.memory)) == before


@pytest.mark.parametrize(("source", "sync"), [("engram", "sync_id TEXT,"), ("hoofy", "")])
def test_engram_and_hoofy(caller: Caller, tmp_path: Path, source: str, sync: str) -> None:
    path = database(tmp_path / "theirs.db", ENGRAM.format(sync=sync))
    done, left = carry(caller, source, path)
    assert (done.added, left) == (4, {"deleted there": 1})
    found = held(caller)
    assert set(found) == {"Retry policy", "Mine"}
    retry = found["Retry policy"]
    assert (retry.kind, retry.project, retry.topic_key, retry.content, retry.session_id, retry.created_at) == (
        "decision", "shop", "net/retry", "Three times 汉字", "s-1", MAY,
    )  # fmt: skip
    assert found["Mine"].scope == "personal"
    listed, _ = sessions.recent(caller.memory)
    assert [each.summary for each in listed] == ["done"]
    assert any("why does it retry?" in line for line in transfer.export(caller.memory))
    assert adds_nothing(caller, source, path)


def test_a_text_changed_there_is_brought_up_to_date(caller: Caller, tmp_path: Path) -> None:
    path = database(tmp_path / "theirs.db", ENGRAM.format(sync=""))
    carry(caller, "engram", path)
    database(
        tmp_path / "theirs.db",
        "UPDATE observations SET content = 'Four times', updated_at = '2024-06-01 00:00:00' WHERE id = 1",
    )
    done, _ = carry(caller, "engram", path)
    assert (done.added, done.updated) == (0, 1)
    assert (held(caller)["Retry policy"].content, held(caller)["Retry policy"].created_at) == ("Four times", MAY)


def test_claude_mem(caller: Caller, tmp_path: Path) -> None:
    path = database(tmp_path / "theirs.db", CLAUDE_MEM)
    assert carry(caller, "claude-mem", path)[0].added == 4
    found = held(caller)
    retry = found["Retry policy"]
    assert (retry.kind, retry.tags, retry.project, retry.session_id, retry.created_at) == (
        "discovery", ("how-it-works",), "shop", "c-1", MAY,
    )  # fmt: skip
    for part in ("Of the client", "The client retries.", "- then gives up", "Files read: a.py"):
        assert part in retry.content
    assert found["Find the retries"].kind == "session_summary"
    assert "Learned: Three times" in found["Find the retries"].content
    assert adds_nothing(caller, "claude-mem", path)


def test_shabka(caller: Caller, tmp_path: Path) -> None:
    path = database(tmp_path / "theirs.db", SHABKA)
    done, left = carry(caller, "shabka", path)
    assert (done.added, left) == (1, {"relations": 1})
    retry = held(caller)["Retry policy"]
    assert (retry.kind, retry.tags, retry.project, retry.importance, retry.status, retry.created_at) == (
        "lesson", ("net",), "shop", 0.9, "archived", MAY,
    )  # fmt: skip
    assert adds_nothing(caller, "shabka", path)


def test_server_memory(caller: Caller, tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    rows: list[dict[str, object]] = [
        {"type": "entity", "name": "Ada", "entityType": "Person", "observations": ["wrote it", "likes 汉字"]},
        {"type": "entity", "name": "Shop", "entityType": "project of ours", "observations": []},
        {"type": "relation", "from": "Ada", "to": "Shop", "relationType": "works on"},
        {"type": "relation", "from": "Ada", "to": "Shop", "relationType": "owns"},
        {"type": "relation", "from": "Ada", "to": "Nobody", "relationType": "knows"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    os.utime(path, (MAY // 1_000_000, MAY // 1_000_000))
    done, left = carry(caller, "server-memory", str(path))
    assert done.added == 3
    assert left == {"relations of entities that are not there": 1, "further relations between the same two": 1}
    found = held(caller)
    assert (found["Ada"].kind, found["Ada"].content, found["Ada"].created_at) == (
        "person", "- wrote it\n- likes 汉字", MAY,
    )  # fmt: skip
    assert found["Shop"].kind == "project-of-ours"
    with caller.database.read() as tx:
        assert [(each.type, each.note) for each in relations.everything(tx)] == [("relates_to", "works on")]
    assert adds_nothing(caller, "server-memory", str(path))


def test_basic_memory(caller: Caller, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "net").mkdir(parents=True)
    (notes / "net" / "Retry.md").write_text(
        "---\ntitle: 'Retry policy'\ntype: note\npermalink: net/retry\ntags:\n- net\n- Ü\ncreated: 2024-05-06 07:08:09\n"
        "---\n\n# Retry policy\n\n- [fact] three times #net\n",
        encoding="utf-8",
    )
    (notes / "Bare.md").write_text("no front matter", encoding="utf-8")
    (notes / "picture.png").write_bytes(b"\x89")
    (notes / "latin.md").write_bytes(b"\xff\xfe\xfa")
    done, left = carry(caller, "basic-memory", str(notes))
    assert (done.added, left) == (2, {"files that are not Markdown": 1, "files that are not UTF-8": 1})
    found = held(caller)
    retry = found["Retry policy"]
    assert (retry.kind, retry.tags, retry.topic_key, retry.created_at) == ("note", ("net", "Ü"), "net/retry", MAY)
    assert retry.content.startswith("# Retry policy")
    assert found["Bare"].content == "no front matter"
    assert adds_nothing(caller, "basic-memory", str(notes))


def test_mem0_from_its_history_and_from_an_export(caller: Caller, tmp_path: Path) -> None:
    path = database(tmp_path / "history.db", MEM0)
    done, left = carry(caller, "mem0", path)
    assert (done.added, left) == (1, {"deleted there": 1})
    assert held(caller)["Likes green tea"].created_at == MAY
    assert adds_nothing(caller, "mem0", path)
    exported = tmp_path / "memories.json"
    exported.write_text(
        json.dumps({"results": [{"id": "c", "memory": "Has a cat", "categories": ["pets"]}]}), encoding="utf-8"
    )
    assert carry(caller, "mem0", str(exported))[0].added == 1
    assert held(caller)["Has a cat"].tags == ("pets",)
    assert adds_nothing(caller, "mem0", str(exported))


def test_what_comes_from_elsewhere_passes_the_gate_and_the_rest_is_counted(caller: Caller, tmp_path: Path) -> None:
    path = database(tmp_path / "theirs.db", ENGRAM.format(sync=""))
    database(
        tmp_path / "theirs.db",
        f"UPDATE observations SET content = 'token {SECRET}' WHERE id = 1;"
        "UPDATE observations SET title = ' ', content = '' WHERE id = 2",
    )
    done, left = carry(caller, "engram", path)
    assert done.added == 3
    assert sum(left.values()) == 2
    assert any("is empty" in reason for reason in left)
    assert SECRET not in "".join(transfer.export(caller.memory))


@pytest.mark.parametrize("source", [each for each in sources.SOURCES if each != "basic-memory"])
def test_a_file_of_something_else_is_refused(caller: Caller, tmp_path: Path, source: str) -> None:
    path = tmp_path / "poem.txt"
    path.write_text("a poem, not a database, that is long enough to have a header " * 20, encoding="utf-8")
    with pytest.raises(HaversackError, match=r"poem\.txt"):
        carry(caller, source, str(path))
    assert held(caller) == {}


def test_a_program_that_is_not_known_or_not_here_is_named(caller: Caller, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="nothing is known of 'notes'"):
        carry(caller, "notes", "")
    with pytest.raises(NotFound, match="nothing of engram at"):
        carry(caller, "engram", str(tmp_path / "missing.db"))
    with pytest.raises(NotFound, match="keeps no usual place"):
        carry(caller, "server-memory", "")


def test_the_command_looks_in_the_usual_place_and_says_what_was_not_carried(
    caller: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / ".engram").mkdir()
    database(tmp_path / ".engram" / "engram.db", ENGRAM.format(sync=""))
    reply = call(caller, "import_memories", {"source": "engram"})
    assert "added 4, updated 0, already there 0; not carried: 1 (deleted there)" in reply.text


RIVALS = Path(__file__).parent / "rivals"
"""What the programs themselves have written: server-memory 2026.8.31 its file, the storage of mem0 2.2.1 a history and
that of claude-mem 13.25.3 the tables that are read, basic-memory 0.23.2 a note."""


def test_a_file_that_server_memory_wrote_comes_in_once(caller: Caller) -> None:
    path = str(RIVALS / "server-memory.jsonl")
    done, left = carry(caller, "server-memory", path)
    assert (done.added, done.updated, sum(left.values())) == (3, 0, 0)
    text = call(caller, "list_observations", {"detail_level": "full"}).text
    assert "- needs an idempotency key — été\n- writes to the bucket" in text and "[person] Ana" in text
    assert adds_nothing(caller, "server-memory", path)


def test_a_store_that_claude_mem_wrote_comes_in_once(caller: Caller, tmp_path: Path) -> None:
    path = database(tmp_path / "claude-mem.db", (RIVALS / "claude-mem.sql").read_text(encoding="utf-8"))
    done, left = carry(caller, "claude-mem", path)
    assert (done.added, sum(left.values())) == (4, 0)
    found = held(caller)
    retry = found["Retry policy"]
    assert (retry.kind, retry.project, retry.tags, retry.created_at) == ("discovery", "shop", ("how-it-works",), MAY)
    assert "The client retries 汉字." in retry.content and "- then gives up" in retry.content
    assert found["Find the retries"].kind == "session_summary"
    assert adds_nothing(caller, "claude-mem", path)


def test_a_note_that_basic_memory_wrote_comes_in_once(caller: Caller) -> None:
    path = str(RIVALS / "basic-memory")
    done, left = carry(caller, "basic-memory", path)
    assert (done.added, sum(left.values())) == (1, 0)
    note = held(caller)["Retry policy"]
    assert (note.kind, note.tags, note.topic_key) == ("note", ("net", "Ü"), "shop/net/retry-policy")
    assert note.content.endswith("- relates_to [[Uploader]]")
    assert adds_nothing(caller, "basic-memory", path)


def test_a_history_that_mem0_wrote_comes_in_once(caller: Caller, tmp_path: Path) -> None:
    path = str(tmp_path / "history.db")
    connection = apsw.Connection(path)
    connection.execute((RIVALS / "mem0.sql").read_text(encoding="utf-8"))
    connection.close()
    done, left = carry(caller, "mem0", path)
    assert (done.added, sum(left.values())) == (2, 1)
    text = call(caller, "list_observations", {"detail_level": "full"}).text
    assert "Lives in Nantes (2026-02-01)" in text and "Lyon" not in text and "tea" not in text
    assert adds_nothing(caller, "mem0", path)
