"""Small helpers of all packages: argument checks, files, compiled functions, progress, random streams."""
