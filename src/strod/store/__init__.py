"""The workspace folder: everything that reaches the disk to stay goes through here."""
