"""Races: accesses to the same bytes that nothing orders, found by happens-before and told in words."""
