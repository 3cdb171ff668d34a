import os
from pathlib import Path

import pytest

from haversack.config import WorkspaceSettings
from haversack.errors import ConfigError, InvalidArgument, NotFound, OutsideRoot, SecretWithheld
from haversack.workspace.files.secret_names import looks_secret, suspects
from haversack.workspace.root import Workspace, locate, locate_readable, open_workspace, shown
from tests.workspace.git_repository import GitRepository


def test_the_root_is_the_git_top_level_of_the_working_folder(repository: GitRepository) -> None:
    repository.write("src/deep/a.py")
    workspace = open_workspace(WorkspaceSettings(), str(repository.path / "src" / "deep"))
    assert workspace.root == os.path.realpath(repository.path)


def test_without_git_the_root_is_the_working_folder(folder: Path) -> None:
    assert open_workspace(WorkspaceSettings(), str(folder)).root == os.path.realpath(folder)


def test_a_root_that_is_set_is_taken_as_it_is(repository: GitRepository) -> None:
    repository.write("src/a.py")
    workspace = open_workspace(WorkspaceSettings(root=str(repository.path / "src")), "/")
    assert workspace.root == os.path.realpath(repository.path / "src")


@pytest.mark.parametrize("settings", [WorkspaceSettings(root="/nowhere/at/all"), WorkspaceSettings(engine="grep")])
def test_settings_that_cannot_be_used_are_refused(settings: WorkspaceSettings, folder: Path) -> None:
    with pytest.raises(ConfigError):
        open_workspace(settings, str(folder))


@pytest.mark.parametrize("path", ["..", "../other", "/etc/passwd", "a/../../other", "out/secret.txt", "out", "out/new"])
def test_nothing_leads_outside_the_root(path: str, folder: Path, plain_workspace: Workspace) -> None:
    outside = folder.parent / "other"
    outside.mkdir()
    (outside / "secret.txt").write_text("x")
    (folder / "a").mkdir()
    (folder / "out").symlink_to(outside)
    with pytest.raises(OutsideRoot):
        locate(plain_workspace, path)
    with pytest.raises(OutsideRoot):
        locate(plain_workspace, path, must_exist=False)


def test_a_folder_whose_name_begins_like_the_root_is_outside(folder: Path, plain_workspace: Workspace) -> None:
    sibling = folder.parent / (folder.name + "-backup")
    sibling.mkdir()
    with pytest.raises(OutsideRoot):
        locate(plain_workspace, str(sibling))


def test_a_path_inside_may_be_absolute_and_go_up_and_down(folder: Path, plain_workspace: Workspace) -> None:
    (folder / "a").mkdir()
    (folder / "a" / "b.txt").write_text("x")
    assert locate(plain_workspace, str(folder / "a" / "b.txt")).relative == "a/b.txt"
    assert locate(plain_workspace, "a/../a/./b.txt").relative == "a/b.txt"
    assert locate(plain_workspace, "").relative == ""
    assert locate(plain_workspace, ".").relative == ""


def test_a_link_inside_the_root_is_followed(folder: Path, plain_workspace: Workspace) -> None:
    (folder / "real.txt").write_text("x")
    (folder / "link.txt").symlink_to("real.txt")
    assert locate(plain_workspace, "link.txt").relative == "real.txt"


def test_a_loop_of_links_and_a_missing_file_are_not_found(folder: Path, plain_workspace: Workspace) -> None:
    (folder / "one").symlink_to("two")
    (folder / "two").symlink_to("one")
    for path in ("one", "missing.txt", "missing/too.txt"):
        with pytest.raises(NotFound):
            locate(plain_workspace, path)


@pytest.mark.parametrize("path", ["a\0b", "a\ud800b"])
def test_characters_no_file_name_can_have_are_refused(path: str, plain_workspace: Workspace) -> None:
    with pytest.raises(InvalidArgument):
        locate(plain_workspace, path)


def test_names_that_cannot_be_printed_are_shown_escaped_and_found_again(
    folder: Path, plain_workspace: Workspace
) -> None:
    raw = os.fsencode(folder) + b"/caf\xe9\n\xc2\x85.txt"
    try:
        Path(os.fsdecode(raw)).write_text("x")
    except OSError:
        pytest.skip("this file system keeps names as Unicode")
    name = r"caf\xe9\x0a\xc2\x85.txt"
    assert shown(os.fsdecode(b"caf\xe9\n\xc2\x85.txt")) == name
    assert os.fsencode(locate(plain_workspace, name).absolute) == os.fsencode(os.path.realpath(folder)) + (
        b"/caf\xe9\n\xc2\x85.txt"
    )
    assert shown("naïve 日本.txt") == "naïve 日本.txt"


SECRET = [
    ".env", ".env.local", "deep/.ENV.production", ".envrc", "prod.env", "id_rsa", "keys/id_ed25519", "server.pem",
    "private.key", "store.p12", "credentials", ".aws/config", "aws-credentials.json", "client_secret.json",
    "secrets.yaml", "config/service-account-prod.json", ".netrc", ".npmrc", ".pypirc", ".git-credentials",
    ".git/config", ".ssh/config", "terraform.tfstate", ".htpasswd", "sub/.git",
    "id_rsa.bak", "id_ed25519_work", "id_ecdsa~", "terraform.tfvars", "env/prod.auto.tfvars", "x.tfvars.json",
    "kubeconfig.yaml", "kubeconfig-prod.yml", ".dev.vars", ".dev.vars.staging", "mycredentials.json",
    "prod-credentials", "credentials-2026.csv", ".env~", "server.key.bak", "tls/server.pem.old.bak", "AuthKey.p8",
    "terraform.tfstate.backup", "home/.config/gh/hosts.yml", ".config/gcloud/access_tokens.db", "ansible/.vault_pass",
    "secrets.yaml.orig", ".s3cfg",
]  # fmt: skip
OPEN = [
    "environment.py", "id_rsa.pub", "keyboard.py", "credentials.py", "secretary.txt", "docs/secrets.md", "key.txt",
    ".gitignore", ".github/workflows/ci.yml", "monkey.json", "pem.go", "src/env/a.py", "services.json", "README",
    "id_rsa.pub.bak", "notes.bak", "variables.tf", "kubeconfig.go", "dev.vars.md", "CredentialsForm.tsx", ".bak", "~",
    "credentials_test.py", "docs/credentials.md", "id_rsa_test.go", "terraform.tfvars.example", "a.old/b.py",
]  # fmt: skip


@pytest.mark.parametrize("path", SECRET)
def test_environment_files_keys_and_credentials_look_secret(path: str) -> None:
    assert looks_secret(path)


@pytest.mark.parametrize("path", OPEN)
def test_other_files_do_not_look_secret(path: str) -> None:
    assert not looks_secret(path)


def test_no_secret_is_lost_when_names_are_looked_through_in_bulk() -> None:
    names = sorted([*SECRET, *OPEN])
    found = suspects(names)
    assert {name for name in found if looks_secret(name)} == set(SECRET)
    assert found == [name for name in names if name in found]
    assert suspects(["a.py", "b/c.md", "İ/x"]) == ["a.py", "b/c.md", "İ/x"]  # its small letters are longer: all are
    assert suspects(["a.py", "b/c.md", "É/x"]) == []


def test_a_secret_is_withheld_under_any_name_unless_the_user_allows_it(
    folder: Path, plain_workspace: Workspace
) -> None:
    (folder / ".env").write_text("TOKEN=1")
    (folder / "innocent.txt").symlink_to(".env")
    for path in (".env", "innocent.txt", "./x/../.env"):
        with pytest.raises(SecretWithheld, match="allow_secrets"):
            locate_readable(plain_workspace, path)
    allowed = Workspace(plain_workspace.root, allow_secrets=True)
    assert locate_readable(allowed, "innocent.txt").relative == ".env"
