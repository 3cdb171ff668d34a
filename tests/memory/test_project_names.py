"""Projects in one store: scoped reading, short names, and changes of whole projects that can be taken back."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from haversack.app import Caller, open_caller
from haversack.config import Config
from haversack.errors import Conflict, InvalidArgument, NotFound
from haversack.memory import sessions
from haversack.memory.save.pipeline import Draft, save
from haversack.tools.road.call import call


def checkout(folder: Path, remote: str = "") -> Path:
    folder.mkdir(parents=True)
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True, env=environment)
    if remote:
        subprocess.run(["git", "remote", "add", "origin", remote], cwd=folder, check=True, env=environment)
    return folder


def at(caller: Caller, folder: Path) -> Caller:
    return caller.app.caller(directory=str(folder))


@pytest.fixture
def api(caller: Caller, tmp_path: Path) -> Caller:
    return at(caller, checkout(tmp_path / "one" / "api", "https://example.org/acme/api.git"))


@pytest.fixture
def rival(caller: Caller, tmp_path: Path) -> Caller:
    return at(caller, checkout(tmp_path / "two" / "api", "git@example.org:rival/api.git"))


def remember(caller: Caller, title: str, **more: str) -> int:
    return save(caller.memory, Draft(title=title, content=f"about {title}", **more)).id  # type: ignore[arg-type]


def found(caller: Caller, **arguments: object) -> str:
    return call(caller, "mem_search", {"query": "ports", **arguments}).text


def test_a_search_stays_in_the_current_project_and_names_the_others(api: Caller, rival: Caller) -> None:
    remember(api, "ports of acme")
    remember(rival, "ports of rival")
    here = found(api)
    assert "ports of acme" in here and "ports of rival" not in here
    assert "Other projects have matches: example.org/rival/api (1)" in call(api, "mem_search", {"query": "rival"}).text
    everywhere = found(api, project="all")
    assert "ports of acme" in everywhere and "ports of rival" in everywhere


def test_a_context_stays_in_the_current_project(api: Caller, caller: Caller) -> None:
    remember(caller, "elsewhere")
    remember(api, "here")
    text = call(api, "mem_context", {}).text
    assert "#2 here" in text and "about elsewhere" not in text
    mixed = call(api, "mem_context", {"project": "all"}).text
    assert ") elsewhere" in mixed


def test_another_clone_of_the_repository_reads_the_same_memories(api: Caller, tmp_path: Path) -> None:
    remember(api, "ports")
    clone = at(api, checkout(tmp_path / "clone", "ssh://git@example.org:22/acme/api"))
    assert "ports" in found(clone)


def test_a_project_is_known_by_its_short_name_while_only_one_has_it(
    api: Caller, caller: Caller, request: pytest.FixtureRequest
) -> None:
    assert "in project api" in call(api, "mem_save", {"title": "ports", "content": "c"}).text
    assert "ports" in found(caller, project="API")
    rival: Caller = request.getfixturevalue("rival")
    assert "in project example.org/rival/api" in call(rival, "mem_save", {"title": "t", "content": "c"}).text
    with pytest.raises(InvalidArgument, match="short name of 2 projects"):
        found(caller, project="api")
    assert "ports" in found(caller, project="acme/api")
    # Inside one of them the short name can only mean that one.
    assert "ports" in found(api, project="api")


def test_memories_under_an_old_short_name_move_to_the_repository_they_came_from(
    api: Caller, rival: Caller, caller: Caller
) -> None:
    for place, title in ((api, "acme ports"), (rival, "rival ports")):
        sessions.start(place.memory, identifier=f"s-{title[:4]}", project="placeholder")
        with caller.database.write() as tx:
            tx.run("UPDATE sessions SET project = 'api', project_key = 'api' WHERE id = ?", (f"s-{title[:4]}",))
        remember_old(place, title, f"s-{title[:4]}")
    assert "acme ports" in found(api) and "rival ports" not in found(api)
    assert "rival ports" in found(rival) and "acme ports" not in found(rival)
    names = [name for name, _ in listed(caller)]
    assert "api" not in names and {"example.org/acme/api", "example.org/rival/api"} <= set(names)


def remember_old(caller: Caller, title: str, session: str) -> None:
    """What a program that knew only bare names left behind."""
    identifier = remember(caller, title, session_id=session, project="legacy")
    with caller.database.write() as tx:
        tx.run("UPDATE observations SET project = 'api', project_key = 'api' WHERE id = ?", (identifier,))
        tx.run("DELETE FROM projects WHERE key = 'legacy'")
        tx.run("INSERT INTO projects (key, name, short) VALUES ('api', 'api', 'api') ON CONFLICT DO NOTHING")


def listed(caller: Caller) -> list[tuple[str, int]]:
    from haversack.memory.projects.changes import everything

    return everything(caller.memory)


def test_a_renamed_project_keeps_its_memories_and_its_folder_follows(api: Caller) -> None:
    remember(api, "ports")
    assert "renamed api to gateway: 1 memories" in call(api, "project_rename", {"old": "api", "new": "gateway"}).text
    assert "ports" in found(api) and "ports" in found(api, project="gateway")
    assert "in project gateway" in call(api, "mem_save", {"title": "later", "content": "c"}).text
    call(api, "project_undo", {})
    assert "in project api" in call(api, "mem_save", {"title": "last", "content": "c"}).text
    assert "ports" in found(api, project="example.org/acme/api")


def test_merged_projects_are_one_until_it_is_taken_back(api: Caller, rival: Caller) -> None:
    remember(api, "ports of acme", topic_key="net/ports")
    remember(rival, "ports of rival", topic_key="net/ports")
    call(api, "project_merge", {"source": "rival/api", "target": "acme/api"})
    assert call(rival, "mem_search", {"query": "ports"}).total == 2
    call(api, "project_undo", {})
    assert call(rival, "mem_search", {"query": "ports"}).total == 1
    # The topic that was taken in the merged project is its own again.
    assert save(rival.memory, Draft(title="new ports", content="c", topic_key="net/ports")).outcome == "updated"


def test_a_forgotten_project_leaves_every_list_and_can_be_brought_back(api: Caller) -> None:
    session = sessions.start(api.memory, identifier="s-forgotten").id
    remember(api, "ports", session_id=session)
    sessions.save_prompt(api.memory, "what about the ports", session_id=session)
    call(api, "project_forget", {"project": "api"})
    gone = call(api, "mem_context", {"project": "all"}).text
    assert "ports" not in gone and "s-forgotten" not in gone
    call(api, "project_undo", {})
    back = call(api, "mem_context", {}).text
    assert "s-forgotten" in back and "what about the ports" in back and "#1 ports" in back


def test_changes_of_projects_refuse_what_makes_no_sense(api: Caller, rival: Caller) -> None:
    remember(api, "a")
    remember(rival, "b")
    with pytest.raises(Conflict, match="exists already"):
        call(api, "project_rename", {"old": "acme/api", "new": "example.org/rival/api"})
    with pytest.raises(InvalidArgument, match="itself"):
        call(api, "project_merge", {"source": "acme/api", "target": "example.org/acme/api"})
    with pytest.raises(NotFound, match="no project 'nowhere'"):
        call(api, "project_forget", {"project": "nowhere"})
    with pytest.raises(NotFound, match="left to take back"):
        call(api, "project_undo", {})


def test_the_list_of_projects_marks_the_current_one(api: Caller) -> None:
    remember(api, "ports")
    assert "- api: 1 memory = example.org/acme/api <- here" in call(api, "project_list", {}).text


def test_a_store_that_cannot_be_written_is_still_read_from_its_project(api: Caller, tmp_path: Path) -> None:
    remember(api, "ports")
    api.app.close()
    home = tmp_path / "home"
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    home.chmod(0o500)
    try:
        again = open_caller(Config(home=str(home)), directory=api.directory)
        assert "ports" in found(again)
    finally:
        home.chmod(0o700)


def test_a_reading_of_one_project_says_what_others_have(api: Caller, rival: Caller, caller: Caller) -> None:
    remember(api, "ports of acme")
    remember(rival, "ports of rival")
    remember(caller, "boats", project="harbour")
    here = found(api)
    assert here.splitlines()[0] == (
        "Project example.org/acme/api; matches in other projects: example.org/rival/api (1); project=all reads them too."
    )
    assert "ports of rival" not in here
    told = json.loads(found(api, format="json"))
    assert told["elsewhere"] == {"total": 1, "projects": {"example.org/rival/api": 1}}
    context = call(api, "mem_context", {}).text
    assert "memories in other projects: example.org/rival/api (1), harbour (1); project=all" in context.splitlines()[0]
    assert "other projects" not in found(api, project="example.org/acme/api"), "who names a project asks for it alone"


def test_what_others_have_never_takes_the_place_of_a_result(api: Caller, rival: Caller) -> None:
    for number in range(6):
        remember(api, f"ports {number}")
    remember(rival, "ports of rival")
    for budget in range(64, 400, 7):
        text, alone = (found(api, max_tokens=budget, project=each) for each in ("", "example.org/acme/api"))
        shown = [number for number in range(6) if f"#{number + 1} " in text]
        assert shown == [number for number in range(6) if f"#{number + 1} " in alone]
        assert "other projects" not in text or len(shown) == 6
    assert "other projects" in text


def test_rows_of_several_projects_name_theirs(api: Caller, rival: Caller, caller: Caller) -> None:
    first = remember(api, "ports of acme")
    second = remember(rival, "ports of rival", session_id=session_of(api, first))
    third = remember(caller, "ports of the harbour", project="harbour")
    names = {first: "example.org/acme/api", second: "example.org/rival/api", third: "harbour"}
    for tool, arguments in (
        ("mem_search", {"query": "ports"}),
        ("mem_context", {}),
        ("list_observations", {}),
        ("mem_compact", {"older_than_days": 0}),
    ):
        text = call(api, tool, {"project": "all", **arguments}).text
        assert all(f"#{number} ({name}) " in text for number, name in names.items()), (tool, text)
        pages = [text := call(api, tool, {"project": "all", "max_tokens": 80, **arguments}).text]
        while found_key := re.search(r'more\("(\w+)"\)', text):
            pages.append(text := call(api, "more", {"key": found_key[1], "max_tokens": 200}).text)
        assert all(f"#{number} (" in "\n".join(pages) for number in names), (tool, pages)
        rows = json.loads(call(api, tool, {"project": "all", "format": "json", **arguments}).text)
        listed = next(value for value in rows.values() if isinstance(value, list))
        assert {each["id"]: each["project"] for each in listed if "id" in each} == names
    timeline = call(api, "mem_timeline", {"observation_id": first}).text
    assert f"#{first} (example.org/acme/api) " in timeline and f"#{second} (example.org/rival/api) " in timeline
    pack = call(api, "context_pack", {"project": "all"}).text
    assert all(f"project: {name}" in pack for name in names.values())
    short = call(api, "context_pack", {"project": "all", "detail_level": "summary"}).text
    assert f"(#{third}, harbour)" in short


def test_rows_of_one_project_do_not_repeat_its_name(api: Caller) -> None:
    number = remember(api, "ports of acme")
    for tool, arguments in (("mem_search", {"query": "ports", "project": "all"}), ("mem_context", {})):
        text = call(api, tool, arguments).text
        assert f"#{number} " in text and f"#{number} (" not in text
    assert "project:" not in call(api, "context_pack", {"project": "all"}).text


def session_of(caller: Caller, number: int) -> str:
    return str(json.loads(call(caller, "mem_get_observation", {"id": number, "format": "json"}).text)["session_id"])
