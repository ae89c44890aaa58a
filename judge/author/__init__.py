"""Tools for a problem's author: prove a problem, mutate its reference, begin a new one.

Import from the submodules.
"""
