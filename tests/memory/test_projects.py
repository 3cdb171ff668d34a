import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.memory.projects.identity import detect_project, project_key, remote_identity, short_name


def git(directory: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always", *arguments],
        cwd=directory,
        check=True,
        capture_output=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "begin")
    return folder


def test_an_explicit_name_comes_first(repository: Path) -> None:
    git(repository, "remote", "add", "origin", "https://example.org/o/remote.git")
    assert detect_project(str(repository), explicit="  Mine ") == "Mine"


def test_the_remote_names_the_project(repository: Path) -> None:
    git(repository, "remote", "add", "origin", "git@example.org:owner/The-Thing.git")
    assert short_name(detect_project(str(repository))) == "The-Thing"


def test_any_folder_below_belongs_to_the_repository(repository: Path) -> None:
    deep = repository / "src" / "deep"
    deep.mkdir(parents=True)
    assert short_name(detect_project(str(deep))) == "checkout"


def test_without_origin_another_remote_is_asked(repository: Path) -> None:
    git(repository, "remote", "add", "fork", "https://example.org/me/fork.git")
    git(repository, "remote", "add", "upstream", "https://example.org/them/source.git")
    assert short_name(detect_project(str(repository))) == "source"


def test_worktrees_are_one_project(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "hotfix"), "-b", "hotfix")
    assert short_name(detect_project(str(tmp_path / "hotfix"))) == "checkout"
    git(repository, "remote", "add", "origin", "https://example.org/o/named")
    assert short_name(detect_project(str(tmp_path / "hotfix"))) == "named"


@pytest.mark.parametrize("bare", ["thing.git", ".bare"])
def test_worktrees_of_a_bare_repository_are_one_project(repository: Path, tmp_path: Path, bare: str) -> None:
    home = tmp_path / "thing"
    home.mkdir()
    git(home, "clone", "-q", "--bare", str(repository), bare)
    git(home / bare, "remote", "remove", "origin")
    git(home / bare, "worktree", "add", "-q", str(home / "feature"), "-b", "feature")
    assert short_name(detect_project(str(home / "feature"))) == "thing"
    assert short_name(detect_project(str(home / bare))) == "thing"


def test_a_submodule_is_its_own_project(repository: Path, tmp_path: Path) -> None:
    library = tmp_path / "library-source"
    git(tmp_path, "clone", "-q", str(repository), str(library))
    git(repository, "submodule", "add", "-q", str(library), "vendor/library")
    module = repository / "vendor" / "library"
    assert short_name(detect_project(str(module))) == "library-source"
    git(module, "remote", "remove", "origin")
    assert short_name(detect_project(str(module))) == "library"
    assert short_name(detect_project(str(repository))) == "checkout"


def test_a_folder_without_git_gives_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    assert short_name(detect_project(str(tmp_path / "notes"))) == "notes"
    assert short_name(detect_project(str(tmp_path / "gone" / "folder"))) == "folder"


def test_the_root_of_a_disk_has_a_name_too() -> None:
    assert detect_project(os.path.abspath(os.sep))


def test_no_process_is_started(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(os, "posix_spawn", refuse, raising=False)
    monkeypatch.setattr(os, "fork", refuse, raising=False)
    assert short_name(detect_project(str(repository))) == "checkout"


CONFIGURATIONS = {
    '[remote "origin"]\n\turl = https://example.org/o/plain.git\n': "plain",
    '[REMOTE "origin"]\r\n\tURL=https://example.org/o/windows.git\r\n': "windows",
    '[remote "origin"] url = "https://example.org/o/quoted.git" ; comment\n': "quoted",
    '[remote "origin"]\n\turl = https://example.org/o/long\\\ner.git # comment\n': "longer",
    "[remote.origin]\n\turl = https://example.org/o/old.git\n": "old",
    '[includeIf "gitdir:/x"]\n\tpath = x\n[remote "origin"]\n\tfetch = +refs\n\turl = /srv/kept\n': "kept",
    '[branch "origin"]\n\turl = https://example.org/o/wrong\n': "checkout",
    '[remote "origin"]\n\tpushurl = https://example.org/o/wrong\n': "checkout",
    '[remote "origin"]\n\turl = https://example.org/\n': "checkout",
    '[remote "origin"\n\turl = https://example.org/o/broken\n': "checkout",
    '\ufeff[remote "origin"]\n\turl = https://example.org/o/marked\n': "marked",
    '[remote "origin"]\n\turl = https://example.org/o/two\n\turl = https://example.org/o/three\n': "two",
}


@pytest.mark.parametrize(("configuration", "name"), CONFIGURATIONS.items())
def test_the_configuration_is_read_as_git_writes_it(tmp_path: Path, configuration: str, name: str) -> None:
    git_directory = tmp_path / "checkout" / ".git"
    git_directory.mkdir(parents=True)
    (git_directory / "HEAD").write_text("ref: refs/heads/main\n")
    (git_directory / "config").write_text(configuration, encoding="utf-8", newline="")
    assert short_name(detect_project(str(git_directory.parent))) == name


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("https://example.org/owner/repo.git", "example.org/owner/repo"),
        ("https://user:secret@Example.org/owner/repo/", "example.org/owner/repo"),
        ("https://example.org/owner/repo.git?ref=main#top", "example.org/owner/repo"),
        ("https://example.org/o/_git/My%20Repo", "example.org/o/_git/My Repo"),
        ("https://example.org/group/sub/repo", "example.org/group/sub/repo"),
        ("git@example.org:owner/repo.git", "example.org/owner/repo"),
        ("git@example.org:repo.git/", "example.org/repo"),
        ("example.org:~me/repo", "example.org/~me/repo"),
        ("ssh://git@example.org:2222/owner/repo.git", "example.org/owner/repo"),
        ("/srv/git/repo.git", "/srv/git/repo"),
        ("/srv/git/repo/.git", "/srv/git/repo"),
        ("../sibling", "/home/me/sibling"),
        ("C:\\repos\\thing.git", "C:/repos/thing"),
        ("C:/repos/thing/", "C:/repos/thing"),
        ("file:///srv/c#.git", "/srv/c#"),
        ("https://example.org", ""),
        ("ssh://example.org/", ""),
        ("..", ""),
        ("", ""),
    ],
)
def test_every_form_of_address_gives_the_identity(url: str, identity: str) -> None:
    assert remote_identity(url, "/home/me/here") == identity


def test_https_and_ssh_clones_in_two_folders_are_one_project(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "another-name"
    other.mkdir(parents=True)
    git(other, "init", "-q")
    git(repository, "remote", "add", "origin", "https://example.org/Acme/api.git")
    git(other, "remote", "add", "origin", "git@example.org:acme/API.git")
    assert project_key(detect_project(str(repository))) == project_key(detect_project(str(other)))
    moved = tmp_path / "moved"
    other.rename(moved)
    assert detect_project(str(moved)) == "example.org/acme/API"


def test_two_repositories_of_one_name_are_two_projects(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(repository, "remote", "add", "origin", "https://example.org/acme/api")
    git(other, "remote", "add", "origin", "https://example.org/rival/api")
    assert detect_project(str(repository)) != detect_project(str(other))


def test_a_path_too_long_for_a_name_is_bounded_and_stays_distinct(tmp_path: Path) -> None:
    deep = tmp_path / "/".join(["folder" * 10] * 4)
    one, two = detect_project(str(deep / "a" / "notes")), detect_project(str(deep / "b" / "notes"))
    assert one != two and len(one) <= 200 and short_name(one) == "notes"


@pytest.mark.parametrize(
    "content", [b"", b"gitdir:", b"gitdir: /nowhere", b"\xff\xfe\x00", b"gitdir: .", b"x" * 100_000]
)
def test_an_odd_git_file_is_passed_over(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / ".git").write_bytes(content)
    assert detect_project(str(folder)) == str(folder.resolve())


def test_odd_git_directories_are_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    (folder / ".git" / "HEAD").mkdir(parents=True)
    assert detect_project(str(folder)) == str(folder.resolve())
    (folder / ".git" / "HEAD").rmdir()
    (folder / ".git" / "HEAD").write_text("")
    (folder / ".git" / "config").mkdir()
    (folder / ".git" / "commondir").write_bytes(b"\x00\xff")
    assert detect_project(str(folder))


@given(st.text(max_size=40))
def test_any_directory_name_gives_a_project_that_can_be_stored(directory: str) -> None:
    assert detect_project(directory).encode("utf-8").strip()


@given(st.binary(max_size=300))
def test_any_configuration_can_be_read(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    git_directory = tmp_path_factory.getbasetemp() / "any" / ".git"
    git_directory.mkdir(parents=True, exist_ok=True)
    (git_directory / "HEAD").write_text("ref: refs/heads/main\n")
    (git_directory / "config").write_bytes(b'[remote "origin"]\nurl=' + content)
    assert detect_project(str(git_directory.parent))


@pytest.mark.parametrize(
    ("one", "other"),
    [("Haversack", "HAVERSACK"), (" a  b ", "a b"), ("ｗｉｄｅ", "wide"), ("STRASSE", "straße"), ("É", "e\u0301")],
)
def test_names_that_differ_in_writing_only_are_one_project(one: str, other: str) -> None:
    assert project_key(one) == project_key(other)


@given(st.text())
def test_a_key_is_its_own_key(name: str) -> None:
    assert project_key(project_key(name)) == project_key(name)
