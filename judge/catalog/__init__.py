"""Problems on disk: manifests, packs, lookup, and the fast list.

Import from the submodules. ``places``, ``fingerprint`` and ``listing`` need only the standard library
at import, because ``list`` and shell completion must answer at once.
"""
