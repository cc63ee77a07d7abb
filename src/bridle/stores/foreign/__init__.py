"""Read sessions of other programs as events of Bridle sessions; one module per program.

```
sources(folder) -> Source…     what may be a session, the last changed one at the end
read(source)    -> ForeignSession, or None if it has no messages
```

Nothing here writes. These files may be broken or come from an untrusted source: every size and count is
bounded, links that lead out of the folder are not followed, and meaningless lines are skipped and counted.
"""
