"""Comms: signed messages between agents of different processes and machines.

| module | contents |
|---|---|
| `hub` | `Comms`: sends to peers by name, and listens for their messages; the listeners of this process |
| `inbox` | messages that wait for a host or for runs, their text for a model, and the ids already received |
| `wire` | one envelope per connection, over a Unix socket or TCP, with an acknowledgement |
| `listener` | the socket of a listener: private, and owned by one process at a time |
| `envelope`, `cbor` | what goes over the wire: signed, checked, and its encoding |
| `identity`, `trust` | our key, the peers we trust, and the files of both |
| `address` | the address of a peer |
| `tools` | the tools for a model |
"""

__all__: list[str] = []
