"""The Python API for embedding Bridle in a program; `import bridle` exports its names."""
