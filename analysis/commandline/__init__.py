"""What commands take from the database.

campaign_files    commands that write files of a campaign
database          opened for commands on files once --campaign is met
stored_campaigns  what a campaign gives in the place of files"""
