"""Endpoints that exist only in simulated time, whose truth is known: what `bench/calibrate.py` judges the judge by.

Nothing here imports the analysis of runs or its tests: a simulated endpoint is no copy of what must recognise it.
"""
