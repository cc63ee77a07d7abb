"""Comms: signed messages between agents of different processes and machines.

| module | holds |
|---|---|
| `hub` | `Comms`: sends to peers by name, and listens for what they send |
| `inbox`, `texts` | what has come and waits, and how a model reads it |
| `seen` | what was here before, and is not taken twice |
| `registry` | the names of this process, which need no wire |
| `wire` | one envelope per connection, over a Unix socket or TCP, with an acknowledgement |
| `listening` | the socket of a listener: private, and of one process at a time |
| `envelope`, `cbor` | what goes over the wire: signed, checked, and its bytes |
| `identity`, `trust`, `files` | who we are, whom we listen to, and how both are kept |
| `address` | where a peer is found |
| `tools` | what a model can do with all this |
"""

__all__: list[str] = []
