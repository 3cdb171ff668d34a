"""A work log in memory, on a clock that only tests move."""

from collections.abc import Iterator

import pytest

from haversack.worklog.ledger import Ledger
from haversack.worklog.log import WorkLog, open_log
from tests.conftest import Clock


@pytest.fixture
def log(clock: Clock) -> Iterator[WorkLog]:
    made = open_log(now=clock)
    yield made
    made.database.close()


@pytest.fixture
def ledger(log: WorkLog) -> Ledger:
    return log.ledger
