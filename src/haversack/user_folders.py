"""Each platform's folders for data that programs store for a user."""

import ntpath
import os
import posixpath
import sys
from collections.abc import Mapping


def data_folder(program: str, environ: Mapping[str, str], platform: str = sys.platform) -> str:
    """The folder in which a program keeps its data."""
    windows, elsewhere = ("LOCALAPPDATA", "Local"), ("XDG_DATA_HOME", ".local", "share")
    folder = _folder(environ, platform, windows=windows, elsewhere=elsewhere)
    return ntpath.join(folder, program) if platform == "win32" else posixpath.join(folder, program)


def settings_folder(environ: Mapping[str, str], platform: str = sys.platform) -> str:
    """The folder in which programs keep settings that a person edits."""
    return _folder(environ, platform, windows=("APPDATA", "Roaming"), elsewhere=("XDG_CONFIG_HOME", ".config"))


def user_home(environ: Mapping[str, str], platform: str = sys.platform) -> str:
    """The user's own folder, by the variables of the platform first."""
    names = ("USERPROFILE", "HOME") if platform == "win32" else ("HOME", "USERPROFILE")
    return next(filter(None, map(environ.get, names)), None) or os.path.expanduser("~")


def _folder(environ: Mapping[str, str], platform: str, *, windows: tuple[str, ...], elsewhere: tuple[str, ...]) -> str:
    home = user_home(environ, platform)
    if platform == "win32":
        variable, *folders = windows
        return environ.get(variable) or ntpath.join(home, "AppData", *folders)
    if platform == "darwin":
        return posixpath.join(home, "Library", "Application Support")
    variable, *folders = elsewhere
    return environ.get(variable) or posixpath.join(home, *folders)
