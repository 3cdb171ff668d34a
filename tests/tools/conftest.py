"""A planner in a folder that is the top of its repository."""

import os

import pytest

from haversack.app import App
from tests.tools.planning import Planner


@pytest.fixture
def planner(app: App) -> Planner:
    # The walk upwards ends at a repository's top, so no test can meet a plan outside its own folder.
    os.mkdir(os.path.join(app.directory, ".git"))
    return Planner(app)
