"""What several rooms need of the operating system, and core, which is pure, cannot give them."""
