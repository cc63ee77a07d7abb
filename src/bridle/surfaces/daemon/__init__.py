"""The daemon: one process for each BRIDLE_HOME that owns sessions, models and kernels."""
