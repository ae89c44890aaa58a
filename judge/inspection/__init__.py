"""Any script under the instruments: run it, read what was seen, sum it up."""
