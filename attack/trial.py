"""What every class of attack is given: a folder, chance, a limit, and a place to write down what held."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from haversack.app import Caller, open_caller
from haversack.config import Config, TokenSettings, WorkspaceSettings
from haversack.errors import HaversackError
from haversack.tools.road.call import call
from haversack.values import replace

SECRET = "marker-7f3a-of-a-file-outside"
HUNG_SECONDS = 40.0
"""How long one call may take before it counts as hung: longer than every limit a tool has."""

Run = Callable[["Trial"], None]
ATTACKS: dict[str, Run] = {}


def attack(name: str) -> Callable[[Run], Run]:
    """Enter a class of attacks under a name."""

    def enter(run: Run) -> Run:
        ATTACKS[name] = run
        return run

    return enter


@dataclass
class Trial:
    """One class under way: it goes on until its count or its time is used up."""

    folder: Path
    count: int
    seconds: float
    seed: int
    tried: int = 0
    breaks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self._deadline = time.monotonic() + self.seconds

    def goes_on(self) -> bool:
        """Whether there is count and time for another attempt."""
        return self.tried < self.count and time.monotonic() < self._deadline

    def judge(self, what: str, held: bool) -> None:
        """Write down one attempt."""
        self.tried += 1
        if not held:
            self.breaks.append(what[:300])

    def caller(self, workspace: Path, *, profile: str = "o200k", timeout: int = 2) -> Caller:
        """A caller on a store of its own, with a workspace."""
        self.folder.mkdir(parents=True, exist_ok=True)
        config = Config(home=str(self.folder / f"home-{profile}"), tokens=TokenSettings(profile=profile))
        settings = WorkspaceSettings(root=str(workspace), timeout_seconds=timeout)
        return open_caller(replace(config, workspace=settings), directory=str(workspace))


def answered(caller: Caller, tool: str, /, **arguments: object) -> str:
    """The reply's text, or the refusal's; any other error is raised."""
    try:
        return call(caller, tool, arguments).text
    except HaversackError as error:
        return f"refused: {error}"


def finishes(work: Callable[[], object], seconds: float = HUNG_SECONDS) -> bool:
    """Whether work ends in time; its result and its refusals are ignored, other errors are not."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except HaversackError:
            return
        except BaseException as error:  # noqa: BLE001 - it is raised again on the thread that judges
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if failures:
        raise failures[0]
    return not thread.is_alive()
