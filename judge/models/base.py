"""What every model shares: frozen, closed, documented."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Immutable value that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Text(Model):
    """One sentence or page in both languages."""

    en: str
    """English."""
    zh: str
    """Chinese."""

    def in_language(self, language: str) -> str:
        """Return the text in ``"en"`` or ``"zh"``."""
        return self.zh if language == "zh" else self.en
