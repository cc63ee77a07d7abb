"""The interfaces of Bridle: each surface is one codec and one transport, and makes no decisions."""

__all__: list[str] = []
