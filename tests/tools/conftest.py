"""A planner in a folder that is the top of its repository."""

import os

import pytest

from haversack.app import Caller
from tests.tools.planning import Planner


@pytest.fixture
def planner(caller: Caller) -> Planner:
    # The walk upwards ends at a repository's top, so no test can meet a plan outside its own folder.
    os.mkdir(os.path.join(caller.directory, ".git"))
    return Planner(caller)
