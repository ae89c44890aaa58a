"""What the tests run on."""
