"""Starts the services of deploy/compose.yaml as plain processes, without containers.

```
python -m scripts.cluster up            start all of them; Ctrl-C ends them, and nothing is left
python -m scripts.cluster up --detach   the same in the background
python -m scripts.cluster status        how they are
python -m scripts.cluster exec gateway-1 bridle run say hello
python -m scripts.cluster down          end them
```

Commands, environment, settings and health checks are those of the compose file. What differs is where things
are: each service has a folder of its own instead of a file system, and ports of 127.0.0.1 instead of a name.
"""
