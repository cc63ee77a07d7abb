"""Made by `make proto` from `proto/`; nothing in here is edited by hand."""
