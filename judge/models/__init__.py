"""Frozen, schema-versioned data that passes between the layers.

Import from the submodules. ``wire`` needs only the standard library, because it is also
imported in the learner's process; the others are pydantic models.
"""
