"""What runs outside of this process: the operations of web services."""
