"""`make dist`: wheel and source archive, built twice to the same bytes, looked into, installed and tried."""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
QUICK = (
    "tests/tokens/test_bpe.py",
    "tests/library/test_memory_face.py",
    "tests/memory/test_saving.py",
    "tests/tools/test_quoting.py",
)
"""Tests that `--quick` runs against the installed wheel, instead of all."""


def build(target: Path) -> list[Path]:
    """The wheel and the source archive, with the time of the last commit as their only time."""
    commit = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True)
    environment = os.environ | {"SOURCE_DATE_EPOCH": commit.stdout.strip()}
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(target)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    return sorted(target.iterdir())


def digests(files: list[Path]) -> list[str]:
    """What the files hold, as one line each."""
    return [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}" for file in files]


def problems(files: list[Path]) -> list[str]:
    """What is wrong with the contents: missing files, or files nobody should get."""
    found: list[str] = []
    wanted: tuple[str, ...]
    for file in files:
        if file.suffix == ".whl":
            names = zipfile.ZipFile(file).namelist()
            metadata = next(name for name in names if name.endswith("METADATA"))
            text = zipfile.ZipFile(file).read(metadata).decode()
            wanted = (
                "haversack/py.typed",
                "haversack/tokens/o200k.vocab",
                "LICENSE",
                "NOTICE",
                "entry_points.txt",
                "haversack.1",
            )
            found += [
                f"{file.name}: metadata lacks {part}"
                for part in ("License-Expression: Apache-2.0", "Requires-Python: >=3.11", "Requires-Dist: apsw")
                if part not in text
            ]
        else:
            with tarfile.open(file) as archive:
                names = archive.getnames()
            wanted = ("pyproject.toml", "README.md", "LICENSE", "NOTICE", "py.typed", "o200k.vocab")
        found += [f"{file.name}: no {part}" for part in wanted if not any(name.endswith(part) for name in names)]
        unwanted = (".pyc", ".db", ".env", ".pem", "/.venv/", "/.git/")
        found += [f"{file.name}: {name}" for name in names if any(part in name for part in unwanted)]
    return found


def try_installed(wheel: Path, tests: tuple[str, ...]) -> None:
    """Install the wheel in an empty environment, run the demo, and run tests against it, away from the sources."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "venv", with_pip=True)
        python = str(place / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        environment = {**os.environ, "HOME": folder, "HAVERSACK_HOME": str(place / "home")}
        environment.pop("PYTHONPATH", None)
        subprocess.run([*pip, str(wheel)], check=True)
        for typed in (["--version"], ["demo"]):
            subprocess.run(
                [python, "-m", "haversack", *typed], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL
            )
        subprocess.run([*pip, f"{wheel}[dev]"], check=True)
        # A clone beside the environment: tests that read the repository find it, and `import haversack` finds only
        # the wheel, because the sources lie under src/ and are not installed.
        tree = place / "tree"
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(tree)], check=True)
        asked = subprocess.run(
            [python, "-c", "import haversack; print(haversack.__file__)"],
            cwd=tree,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        if Path(asked.stdout.strip()).is_relative_to(tree):
            raise SystemExit(f"the tests would run against the sources: {asked.stdout.strip()}")
        subprocess.run([python, "-m", "pytest", "-n", "2", *tests], cwd=tree, env=environment, check=True)


def main() -> int:
    """Build, check and try; exit 1 with what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="run four files of tests against the wheel, not all")
    quick = parser.parse_args().quick
    shutil.rmtree(DIST, ignore_errors=True)
    files = build(DIST)
    with tempfile.TemporaryDirectory() as again:
        if digests(files) != digests(build(Path(again))):
            print("two builds of the same commit differ")
            return 1
    print("\n".join(digests(files)))
    if wrong := problems(files):
        print("\n".join(wrong))
        return 1
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *map(str, files)], check=True)
    wheel = next(file for file in files if file.suffix == ".whl")
    try_installed(wheel, QUICK if quick else ("tests",))
    print(f"{wheel.name}: built twice to the same bytes, installed, {'tried in part' if quick else 'tried'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
