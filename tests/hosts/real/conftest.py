"""What the tests of one run have seen of hosts, written down at its end."""

from collections.abc import Iterator

import pytest

from tests.hosts.real.report import Seen, write_page


@pytest.fixture(scope="session")
def seen() -> Iterator[dict[str, Seen]]:
    found: dict[str, Seen] = {}
    yield found
    if found:
        write_page(found)
