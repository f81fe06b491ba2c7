"""Jobs, the engines that run them, and what a sweep ends with."""
