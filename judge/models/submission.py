"""A learner's file, frozen: it is read once, before anything runs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from judge.models.base import Model


class Submission(Model):
    """Source bytes and where they came from."""

    source: Annotated[bytes, Field(repr=False)]
    """The file's bytes, unchanged."""
    shown_path: str
    """Absolute path; a report shows it as seen from where its reader stands."""
    sha256: str
    """Hex digest of ``source``."""

    @property
    def size_bytes(self) -> int:
        """Length of the source."""
        return len(self.source)
