"""What could not be handled: finding it, showing why, and sending it again."""
