"""What a finished run is: its results in memory, its record and its fingerprint."""
