"""Python: Bridle inside another program, by `import bridle`; its names are those of the package itself."""
