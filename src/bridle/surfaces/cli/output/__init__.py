"""What commands print: runs, kernel cells, tables and log lines."""
