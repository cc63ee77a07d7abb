"""Agent frameworks for the peer bench, including Bridle: one small file each.

A file is imported by two interpreters: the bench reads its words, the environment of the framework calls
its functions. So it imports its framework inside of these only, which a cold start is the better for.

| word | says |
|---|---|
| `NAME`, `PACKAGES` | what it is called, and what is installed for it; the first has the version |
| `BEST` | its setup here, in one line |
| `STORE` | where a resumed conversation is read from |
| `THREADS` | it has no async way: many runs are many threads, and its tools are no coroutines |
| `FINAL` | the reply that ends a run, where a plain text does not |
| `TOOL` | the tool it has, where it takes no other |
| `CANNOT` | rows that it has no way to do, and why |

| function | returns |
|---|---|
| `run(url, tools)` | a function that has a new conversation: of a prompt it makes the last text |
| `stream(url)` | the same, that makes of a prompt how many fragments were seen |
| `save(place, said)` | nothing, when the texts (of the user and the model in turn) are kept |
| `resume(url, place)` | a function that continues them |
"""
