"""One server for all tests that do not change how it is set up."""

from collections.abc import Iterator

import pytest

from tests.http.serving import Served, serving


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(str(tmp_path_factory.mktemp("home"))) as held:
        yield held
