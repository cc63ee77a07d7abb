"""Ways in and out: each surface is one codec and one transport, and decides nothing."""

__all__: list[str] = []
