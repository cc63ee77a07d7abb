"""What several surfaces share; each other folder of `surfaces` is one surface.

| for | modules |
|---|---|
| what a session shows | `view_model`, `full_transcript`, `timeline`, `event_notes`, `subagent_names` |
| showing it | `transcript`, `export`, `text_format`, `highlight`, `missed_text` |
| driving a session | `run_driver`, `session_calls`, `session_queries`, `skill_prompt`, `output_format` |
| facts about a folder | `folder_info`, `folder_queries`, `file_names`, `usage` |
| errors and limits | `error_codes`, `validation_error`, `truncation` |
| the terminal | `terminal`, `editor` |
"""
