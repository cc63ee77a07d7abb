"""Start the services of deploy/compose.yaml as plain processes, without containers.

```
python -m scripts.cluster up            start all services; Ctrl-C stops and removes them
python -m scripts.cluster up --detach   the same in the background
python -m scripts.cluster status        show their state
python -m scripts.cluster exec gateway-1 bridle run say hello
python -m scripts.cluster down          stop them
```

Commands, environment, settings and health checks come from the compose file. Only places differ: each service
has a folder instead of a file system, and ports of 127.0.0.1 instead of a host name.
"""
