"""What runs in the process of a script that is inspected: its start, its end, and the report to the parent."""
