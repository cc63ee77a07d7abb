"""Semantic recall over what was said in the sessions of a project, from a file on this machine.

Each part is imported from its own module: most commands need the tool alone, and only some of them numpy.
"""
