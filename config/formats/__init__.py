"""Signs of numbers where Django's are not those of the Unicode CLDR, which browsers follow: a page
and its scripts write a number alike.

Read by Django (FORMAT_MODULE_PATH in the settings); what stands not here is as Django has it.
"""
