"""The figures of the memory, drawn: on a terminal, with --draw, and as a picture."""

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.cli import main
from haversack.memory.statistics import Figure, Statistics
from haversack.tokens import count_tokens
from haversack.tools.memory.statistics_drawing import (
    MOST_BARS,
    MOST_COLUMNS,
    WEEK,
    bar,
    picture,
    sketch,
    sparkline,
    timeline,
    tokens_by_project,
)

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def stored(capsys: pytest.CaptureFixture[str]) -> None:
    """Three observations in two projects, one with a name that is no XML."""
    for words, project, kind in (
        ("We sign tokens with RS256 and rotate the key every hour", "thesis", "decision"),
        ("Prune in spring", "a<b> & 'c'", "pattern"),
        ("Größe 日本", "thesis", "haiku"),
    ):
        assert main(["save", words, "--project", project, "--kind", kind]) == 0
    capsys.readouterr()


@given(st.lists(st.tuples(st.integers(0, 700), st.integers(1, 10**6)), max_size=50))
def test_a_timeline_counts_every_observation_once(weeks: list[tuple[int, int]]) -> None:
    over = timeline([Figure(week * WEEK, "decision", "thesis", count, 1) for week, count in weeks])
    assert sum(over.counts) == sum(count for _, count in weeks)
    assert len(over.counts) <= MOST_COLUMNS
    drawn = sparkline(over.counts)
    assert [letter == " " for letter in drawn] == [count == 0 for count in over.counts]
    assert not weeks or drawn[over.counts.index(max(over.counts))] == "█"


def test_a_sparkline_and_bars_show_shares() -> None:
    assert sparkline([0, 1, 4, 8]) == " ▁▄█"
    assert bar(8, 8) == "█" * 30 and bar(4, 8) == "█" * 15 and bar(1, 10**6) == "▏" and bar(0, 8) == ""


def test_small_projects_are_one_sum_and_no_token_is_missing() -> None:
    rows = [Figure(0, "decision", f"project {number}", 1, number) for number in range(1, 31)]
    drawn = tokens_by_project([*rows, Figure(WEEK, "decision", "Project 30", 1, 5)])
    assert len(drawn) == MOST_BARS and drawn["project 30"] == 35
    assert drawn["19 other projects"] == sum(range(1, 20))


@pytest.mark.usefixtures("stored")
def test_stats_are_drawn_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "--draw"]) == 0
    shown = capsys.readouterr().out
    assert "Observations by week" in shown and "  █\n" in shown
    assert "Tokens by project\n  thesis " in shown and "a<b> & 'c'" in shown and "haiku" in shown
    assert "Hooks have recalled nothing yet." in shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.usefixtures("stored")
def test_stats_are_drawn_on_a_terminal_but_not_into_a_pipe_or_as_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["stats"]) == 0
    assert "kind decision: 1" in (plain := capsys.readouterr().out) and "█" not in plain
    assert main(["stats", "--json", "--draw"]) == 0
    assert json.loads(capsys.readouterr().out)["observations"] == 3
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["stats"]) == 0
    assert "█" in capsys.readouterr().out


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("budget", [64, 90, 130, 500])
def test_a_drawing_fits_its_budget_and_its_rest_can_be_asked_for(
    budget: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stats", "--draw", "--tokens", str(budget)]) == 0
    shown = capsys.readouterr().out
    assert count_tokens(shown.rstrip("\n")) <= budget
    assert ("`haversack more " in shown) == (budget < 200)


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("budget", [[], ["--tokens", "64"]])
def test_the_picture_is_whole_and_valid(budget: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "figures.svg"
    assert main(["stats", "--svg", str(path), *budget]) == 0
    assert capsys.readouterr().out == ""
    root = ElementTree.parse(path).getroot()
    assert root.tag == f"{SVG}svg"
    words = [each.text for each in root.iter(f"{SVG}text")]
    assert {"Tokens by project", "Tokens by kind", "thesis", "a<b> & 'c'", "haiku"} <= set(words)
    bars = list(root.iter(f"{SVG}rect"))
    assert len(bars) == 1 + 2 + 3
    assert all(0 <= float(each.attrib["x"]) + float(each.attrib["width"]) <= 640 for each in bars)


def test_an_empty_store_is_drawn_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "--draw"]) == 0
    assert "Nothing is stored yet." in capsys.readouterr().out
    assert main(["stats", "--svg", str(tmp_path / "none.svg")]) == 0
    assert "Nothing is stored yet." in "".join(ElementTree.parse(tmp_path / "none.svg").getroot().itertext())


def test_a_picture_that_cannot_be_written_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    assert main(["stats", "--svg", str(tmp_path / "file" / "folder.svg")]) == 1
    assert "folder.svg" in capsys.readouterr().err


def test_what_recall_gave_back_is_drawn() -> None:
    figures = Statistics(
        observations=1, deleted=0, tokens=9, bytes=9, sessions=0, prompts=0, relations=0, oldest=None, newest=None,
        projects=(), kinds=(), size_on_disk=9, recalled=120, opened=30,
    )  # fmt: skip
    rows = [Figure(0, "decision", "thesis", 1, 9)]
    shown = sketch(figures, rows)
    assert "Recalled by hooks" in shown and f"120 {bar(120, 120)}" in shown and f"30 {bar(30, 120)}" in shown
    words = list(ElementTree.fromstring(picture(figures, rows)).itertext())
    assert words[words.index("opened afterwards") :].count("30") == 1
