"""Why completions differ, or why nothing could be said: one module for each cause, tried in a stated order."""
