"""Servers that lend tools by the Model Context Protocol: started, kept, asked and ended."""
