"""Retries."""

from __future__ import annotations

import random
from dataclasses import dataclass

from .exceptions import MeshError


@dataclass(frozen=True)
class Retry:
    """When a failed call is retried.

    Calls are retried that fail with UNAVAILABLE, unless the mesh retried them itself, and with
    RESOURCE_EXHAUSTED if the mesh says when there is room again (RetryInfo), as long as their
    timeout allows for the wait. The contract declares the retried methods idempotent. A stream is
    retried before its first event only.
    """

    attempts: int = 4
    """Maximum number of attempts; 1 disables retries."""
    initial: float = 0.1
    """Seconds before the first retry; doubled for each further one."""
    maximum: float = 5.0
    """Maximum of that. A wait that the mesh asks for may be longer."""

    def delay(self, error: MeshError, attempt: int, remaining: float) -> float | None:
        """Returns the seconds to wait before the next attempt, or None if there is none.

        attempt counts the attempts made; remaining is the rest of the timeout in seconds."""
        retryable = error.code == "UNAVAILABLE" or error.code == "RESOURCE_EXHAUSTED" and error.retry_after is not None
        if not retryable or error.no_retry or attempt >= self.attempts:
            return None
        if error.retry_after is not None:
            wait = error.retry_after * random.uniform(1, 1.1)  # callers refused together come back apart
        else:
            wait = min(self.maximum, self.initial * 2 ** (attempt - 1)) * random.uniform(0.5, 1)
        return wait if wait < remaining else None
