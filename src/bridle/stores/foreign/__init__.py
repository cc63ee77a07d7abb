"""Sessions that other programs have kept, read as events of sessions of ours; one file for each program.

```
sources(folder) -> Source…     what may be a session, the one that was changed last at the end
read(source)    -> ForeignSession, or None when nothing was said in it
```

Nothing here writes. What is in these files may be broken or made by somebody else: every size and count is
bounded, links that lead out of the folder are not followed, and a line that means nothing is left out and
counted.
"""
