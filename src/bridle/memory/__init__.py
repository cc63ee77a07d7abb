"""Memory: semantic recall over the sessions of a project, from a file on this machine.

Import each part from its module: most commands need only the tool, and only some need numpy.
"""
