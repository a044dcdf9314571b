"""The paper's tables and figures, made from systems that are trained and judged alike.

`layoutdm paper TABLE|FIGURE|all --data DATA --runs RUNS --out OUT` trains what is missing, makes
the layouts of every cell, scores them and writes. Interrupted, it goes on. Each table or figure is
one file; `items.py` lists them.
"""
