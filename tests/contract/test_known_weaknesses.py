"""Weaknesses that memories for agents are known to have, each as the behaviour it must not have here."""

import json
import threading

import pytest

from haversack.app import Caller
from haversack.errors import HaversackError, InvalidArgument, NotFound
from haversack.memory import context, relations, sessions
from haversack.memory.relations import relations_of
from haversack.memory.save import edits, pipeline
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft
from haversack.memory.search.index_words import rebuild_index
from haversack.store.records import Filters
from haversack.tokens import count_tokens
from haversack.tools.road.call import call
from tests.conftest import Clock

SAVE = {"title": "Title", "content": "content", "project": "p"}


@pytest.fixture
def sixty(caller: Caller) -> Caller:
    """Sixty memories, five sessions with summaries and five prompts."""
    for number in range(5):
        session = sessions.start(caller.memory, identifier=f"s{number}", project="p")
        sessions.end(caller.memory, session.id, f"summary {number} " * 200)
        sessions.save_prompt(caller.memory, f"prompt {number} " * 200, project="p")
    for number in range(60):
        pipeline.save(
            caller.memory, Draft(title=f"Note {number}", content=f"deploy number {number} " * 20, project="p")
        )
    return caller


class TestBudgets:
    def test_every_section_of_a_context_is_inside_the_budget(self, sixty: Caller) -> None:
        for budget in (64, 100, 300):
            assert count_tokens(call(sixty, "mem_context", {"max_tokens": budget}).text) <= budget

    def test_the_footer_is_inside_the_budget(self, sixty: Caller) -> None:
        reply = call(sixty, "mem_search", {"query": "deploy", "max_tokens": 200})
        assert "📏" in reply.text and "⚡" in reply.text
        assert count_tokens(reply.text) == reply.tokens <= 200

    def test_one_hint_line_says_how_much_is_shown(self, sixty: Caller) -> None:
        text = call(sixty, "mem_search", {"query": "deploy", "limit": 20, "max_tokens": 300}).text
        assert text.count(" of 60 ") == 1
        assert "Showing" not in text

    def test_the_true_total_survives_a_budget_that_cuts(self, sixty: Caller) -> None:
        for budget in (64, 200, 8000):
            assert call(sixty, "mem_search", {"query": "deploy", "max_tokens": budget}).total == 60

    @pytest.mark.parametrize("level", ["summary", "standard", "full"])
    def test_a_timeline_keeps_its_focus_whatever_the_budget(self, sixty: Caller, level: str) -> None:
        for budget in (64, 80, 128):
            arguments = {"observation_id": 30, "before": 20, "after": 20, "max_tokens": budget, "detail_level": level}
            assert any(
                line.startswith(("#30 ", "#30…")) for line in call(sixty, "mem_timeline", arguments).text.split("\n")
            )

    def test_no_cut_breaks_a_character_or_leaves_a_fence_open(self, caller: Caller) -> None:
        pipeline.save(caller.memory, Draft(title="t", content="```python\n" + "x = '汉字🙂'\n" * 200 + "```\n"))
        for budget in range(100, 200, 7):
            text = call(caller, "mem_get_observation", {"id": 1, "max_tokens": budget}).text
            text.encode()
            assert text.count("```") % 2 == 0

    def test_an_item_too_large_does_not_empty_the_reply(self, caller: Caller) -> None:
        pipeline.save(caller.memory, Draft(title="small deploy", content="deploy", project="p", importance=0.1))
        pipeline.save(caller.memory, Draft(title="deploy", content="deploy " * 5000, project="p", importance=1.0))
        pack = call(caller, "context_pack", {"project": "p", "max_tokens": 200})
        assert pack.names == ("#1",)
        assert call(caller, "mem_search", {"query": "deploy", "detail_level": "full", "max_tokens": 200}).names == (
            "#1",
        )

    def test_json_costs_what_it_is_charged(self, sixty: Caller) -> None:
        for tool, arguments in (("mem_search", {"query": "deploy"}), ("context_pack", {}), ("mem_context", {})):
            reply = call(sixty, tool, {**arguments, "format": "json", "max_tokens": 500})
            facts = json.loads(reply.text)
            assert count_tokens(reply.text) == facts.get("tokens", facts.get("total_tokens")) <= 500

    def test_an_empty_result_has_its_token_line(self, caller: Caller) -> None:
        for tool, arguments in (("mem_search", {"query": "nothing"}), ("mem_context", {}), ("list_observations", {})):
            assert call(caller, tool, arguments).text.split("\n")[-1].startswith("📏 ~")

    def test_a_limit_of_fifty_shows_fifty(self, sixty: Caller) -> None:
        for tool, arguments in (("mem_search", {"query": "deploy"}), ("mem_context", {}), ("list_observations", {})):
            reply = call(sixty, tool, {**arguments, "limit": 50, "detail_level": "summary"})
            assert reply.shown == 50

    def test_there_is_always_a_way_to_the_rest(self, sixty: Caller) -> None:
        reply = call(sixty, "mem_search", {"query": "deploy", "max_tokens": 100})
        assert reply.left is not None and f'more("{reply.left.key}")' in reply.text
        assert call(sixty, "more", {"key": reply.left.key}).shown > 0


class TestSaving:
    def test_a_first_save_on_a_fresh_install_works(self, caller: Caller) -> None:
        assert call(caller, "mem_save", SAVE).text.startswith("saved #1")

    def test_settings_hold_on_every_connection(self, caller: Caller) -> None:
        found: list[object] = []

        def look() -> None:
            with caller.database.read() as tx:
                found.append((tx.value("PRAGMA foreign_keys"), tx.value("PRAGMA busy_timeout")))

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [(1, 30_000)] * 4

    def test_long_content_is_kept_whole_so_stored_json_stays_json(self, caller: Caller) -> None:
        document = json.dumps({"rows": ["é" * 100] * 500}, ensure_ascii=False)
        call(caller, "mem_save", SAVE | {"content": document})
        assert json.loads(context.recall(caller.memory, 1).content) == json.loads(document)

    def test_a_duplicate_an_upsert_and_a_refusal_are_told_apart(self, caller: Caller) -> None:
        with_topic = SAVE | {"topic_key": "a/b"}
        replies = [
            call(caller, "mem_save", arguments).text
            for arguments in (with_topic, with_topic, with_topic | {"content": "x"})
        ]
        assert [text.split(" ")[0] for text in replies] == ["saved", "duplicate", "updated"]
        with pytest.raises(HaversackError, match="over the limit"):
            call(caller, "mem_save", SAVE | {"content": "x" * 300_000})

    def test_an_upsert_keeps_the_old_text(self, caller: Caller) -> None:
        for content in ("first", "second", "third"):
            call(caller, "mem_save", SAVE | {"topic_key": "a/b", "content": content})
        assert [each.content for each in edits.history(caller.memory, 1)[1]] == ["second", "first"]

    def test_a_second_decision_does_not_overwrite_the_first(self, caller: Caller) -> None:
        for number in range(3):
            call(
                caller,
                "mem_save",
                {"title": f"ADR {number}", "content": f"we chose {number}", "kind": "decision", "project": "p"},
            )
        assert context.count_observations(caller.memory, Filters(kind="decision")) == 3

    def test_private_parts_are_taken_out_of_summaries_and_notes_even_when_never_closed(self, caller: Caller) -> None:
        call(caller, "mem_session_start", {"id": "s"})
        call(caller, "mem_session_end", {"id": "s", "summary": "done <Private>hunter2"})
        for number in range(2):
            call(caller, "mem_save", SAVE | {"title": f"t{number}"})
        call(
            caller,
            "mem_relate",
            {"from_id": 1, "to_id": 2, "relation_type": "fixes", "note": "<private>hunter2</private>"},
        )
        assert "hunter2" not in call(caller, "list_sessions", {"detail_level": "full"}).text
        assert "hunter2" not in call(caller, "mem_get_observation", {"id": 1}).text

    def test_a_namespace_does_not_leak_sessions_and_prompts(self, caller: Caller) -> None:
        call(caller, "mem_session_start", {"id": "secret-session", "namespace": "a", "project": "p"})
        call(caller, "mem_save_prompt", {"content": "secret prompt", "namespace": "a", "project": "p"})
        assert "secret" not in call(caller, "mem_context", {"namespace": "b", "project": "p"}).text
        assert "secret" in call(caller, "mem_context", {"namespace": "a", "project": "p"}).text

    def test_deleting_an_unknown_id_does_not_succeed(self, caller: Caller) -> None:
        with pytest.raises(NotFound):
            call(caller, "mem_delete", {"id": 7})

    def test_notes_that_differ_are_all_kept(self, caller: Caller) -> None:
        for number in range(87):
            pipeline.save(caller.memory, Draft(title="Measured", content=f"request {number} took 12 ms", project="p"))
        assert context.count_observations(caller.memory, Filters()) == 87

    def test_a_changed_port_is_a_new_fact(self, caller: Caller) -> None:
        for port in (5432, 6543):
            assert call(caller, "mem_save", SAVE | {"content": f"port {port}"}).text.startswith("saved")

    def test_saves_in_the_same_instant_keep_their_order(self, caller: Caller) -> None:
        caller.app.now = lambda: 1_770_000_000_000_000
        for number in range(9):
            call(caller, "mem_save", SAVE | {"title": f"t{number}"})
        assert call(caller, "list_observations", {}).names == tuple(f"#{number}" for number in range(9, 0, -1))

    @pytest.mark.parametrize("missing", ["title", "content"])
    def test_a_missing_argument_stores_no_blank_row(self, caller: Caller, missing: str) -> None:
        for arguments in ({name: value for name, value in SAVE.items() if name != missing}, SAVE | {missing: "  "}):
            with pytest.raises(InvalidArgument, match=missing):
                call(caller, "mem_save", arguments)
        assert context.count_observations(caller.memory, Filters()) == 0

    def test_a_joiner_is_kept_and_half_a_character_is_refused_not_dropped(self, caller: Caller) -> None:
        call(caller, "mem_save", SAVE | {"content": "👨\u200d👩"})
        assert context.recall(caller.memory, 1).content == "👨\u200d👩"
        with pytest.raises(InvalidArgument, match="content holds half"):
            call(caller, "mem_save", SAVE | {"content": "a\ud800b"})

    def test_text_in_any_script_is_saved_found_and_shown(self, caller: Caller) -> None:
        for title in ("Größe", "数据库迁移", "عربي", "हिन्दी", "🚀 launch", "İstanbul", "ß", "x" * 499 + "é"):
            call(caller, "mem_save", {"title": title, "content": title * 3, "project": title[:50]})
            assert title[:20] in call(caller, "mem_search", {"query": title, "detail_level": "full"}).text


class TestFinding:
    def test_a_context_shows_ids(self, sixty: Caller) -> None:
        assert "#60 " in call(sixty, "mem_context", {}).text

    def test_a_question_finds_what_its_words_are_about(self, caller: Caller) -> None:
        call(caller, "mem_save", SAVE | {"content": "We authenticate with JWT, signed with RS256."})
        for question in ("how did we do the jwt authentication?", "What did we decide about authenticating users?"):
            assert call(caller, "mem_search", {"query": question}).total == 1

    @pytest.mark.parametrize(
        "query", ['say "jwt', "it's jwt", 'jwt" OR 1=1 --', "jwt AND (", "jwt:*^", "NEAR(jwt", "-jwt", "jwt\x00"]
    )
    def test_no_sign_in_a_query_is_an_error(self, caller: Caller, query: str) -> None:
        call(caller, "mem_save", SAVE | {"content": "we chose jwt, and it said so"})
        assert call(caller, "mem_search", {"query": query}).total <= 1

    @pytest.mark.parametrize(
        ("content", "query"),
        [
            ("call getUserName() first", "user name"),
            ("call getUserName() first", "getUserName"),
            ("set max_retry_count to 3", "retry"),
            ("我们选择了数据库迁移工具", "数据库"),
            ("データベースの移行", "移行"),
            ("written in C++ and C#", "C++"),
            ("see src/auth/keys.ts", "src/auth/keys.ts"),
        ],
    )
    def test_names_and_unspaced_scripts_are_found(self, caller: Caller, content: str, query: str) -> None:
        call(caller, "mem_save", SAVE | {"content": content})
        call(caller, "mem_save", SAVE | {"title": "Other", "content": "something else"})
        assert call(caller, "mem_search", {"query": query}).names[0] == "#1"

    def test_an_empty_query_is_a_clear_error(self, caller: Caller) -> None:
        with pytest.raises(InvalidArgument, match="query"):
            call(caller, "mem_search", {"query": ""})

    def test_half_a_character_in_a_query_does_no_harm(self, caller: Caller) -> None:
        call(caller, "mem_save", SAVE)
        assert call(caller, "mem_search", {"query": "content \ud83d"}).total == 1

    def test_numbers_sent_as_strings_are_taken(self, sixty: Caller) -> None:
        arguments = {"observation_id": "#30", "before": "2", "after": "1", "max_tokens": "2000"}
        assert call(sixty, "mem_timeline", arguments).names == ("#30", "#29", "#31", "#28")
        assert call(sixty, "list_observations", {"limit": "3"}).shown == 3

    def test_before_zero_is_possible(self, sixty: Caller) -> None:
        assert call(sixty, "mem_timeline", {"observation_id": 30, "before": 0, "after": 1}).names == ("#30", "#31")

    @pytest.mark.parametrize("limit", [-1, 0, 10**9, "many"])
    def test_a_limit_that_makes_no_sense_is_refused(self, sixty: Caller, limit: object) -> None:
        with pytest.raises(InvalidArgument, match="limit"):
            call(sixty, "mem_search", {"query": "deploy", "limit": limit})

    def test_a_huge_memory_does_not_come_back_whole_in_a_search(self, caller: Caller) -> None:
        call(caller, "mem_save", SAVE | {"content": "haystack " * 20_000 + "needle"})
        text = call(caller, "mem_search", {"query": "needle"}).text
        assert "needle" in text
        assert count_tokens(text) < 200

    def test_building_the_index_anew_keeps_relations(self, caller: Caller) -> None:
        for number in range(2):
            call(caller, "mem_save", SAVE | {"title": f"t{number}"})
        relations.relate(caller.memory, 1, 2, "fixes")
        rebuild_index(caller.memory)
        assert len(relations_of(caller.memory, 1)) == 1

    def test_archived_memories_are_not_in_packs(self, caller: Caller, clock: Clock) -> None:
        call(caller, "mem_save", SAVE | {"title": "archived one"})
        edits.update(caller.memory, 1, Changes(status="archived"))
        assert "archived one" not in call(caller, "context_pack", {"project": "p"}).text

    def test_secrets_are_taken_out_of_titles_too(self, caller: Caller) -> None:
        secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
        call(caller, "mem_save", SAVE | {"title": f"token {secret}", "content": f"it is {secret}"})
        assert secret not in call(caller, "context_pack", {"project": "p"}).text
        assert secret not in call(caller, "mem_get_observation", {"id": 1, "format": "json"}).text

    def test_keys_of_different_remainders_differ(self, sixty: Caller) -> None:
        keys = set()
        for number in range(30):
            left = call(sixty, "mem_get_observation", {"id": 1 + number, "max_tokens": 80}).left
            assert left is not None
            keys.add(left.key)
        assert len(keys) == 30
        assert all(4 <= len(key) <= 6 for key in keys)
