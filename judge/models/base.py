"""What every model shares: frozen, closed, documented."""

from __future__ import annotations

import os

# Plugins of other packages have no business in a judgement, and looking for them takes 15 ms.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Immutable value that refuses unknown fields; :mod:`judge.models.documentation` reads their docstrings."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Text(Model):
    """One sentence or page in both languages."""

    en: str
    """English."""
    zh: str
    """Chinese."""

    def in_language(self, language: str) -> str:
        """Return the text in ``"en"`` or ``"zh"``."""
        return self.zh if language == "zh" else self.en
