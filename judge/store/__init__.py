"""What is kept between judgements: attempts, how they ended, hints that were read."""
