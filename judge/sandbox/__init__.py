"""What stands between a submission and the machine."""
