"""The near ties of answers, and which of them company turned into forks."""
