"""What the user reads: progress, tables and errors."""
