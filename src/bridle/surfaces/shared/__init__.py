"""What several surfaces share; each other folder of `surfaces` is one surface.

| for | modules |
|---|---|
| showing a session | `view_model`, `text_format`, `event_notes`, `highlight`, `transcript`, `export` |
| driving a session | `run_driver`, `session_calls`, `session_queries`, `skill_prompt`, `output_format` |
| facts about a folder | `folder_info`, `folder_queries`, `file_names`, `usage` |
| errors and limits | `error_codes`, `validation_error`, `truncation` |
| the terminal | `terminal`, `editor` |
"""
