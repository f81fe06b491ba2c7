"""Files of rows, whatever their format: found, opened within limits, understood, read and checked."""
