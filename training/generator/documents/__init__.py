"""Small texts of very many kinds, with the questions that they answer.

```
data tables ─▶ kinds (tables, settings, code, home, project, logs, foreign) ─▶ Page: path, lines, asks
questions: an ask, and a way to name the file ─▶ what the user types
```
"""
