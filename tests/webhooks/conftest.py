from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.webhooks.receiver import Receiver, receiving


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.CODEFORGE_INSECURE_WEBHOOKS = True
    with receiving() as made:
        yield made
