"""Endpoints that exist only in simulated time, whose truth is known: what `bench/calibrate.py` judges the judge by.

What makes the runs knows plans and records, and nothing of their analysis: a simulated endpoint is no copy of what
must recognise it. Only what counts (`tally`, `coverage`, `work` and the tables) has seen an analysis.
"""
