"""Database access for command-line tools: campaigns as a replacement for input files.

campaign_files    shared parts of the commands that write files of a campaign
database          the connection, opened only if a command gets --campaign
stored_campaigns  data of a campaign as a replacement for input files
"""
