"""Number formats for languages in which Django differs from the Unicode CLDR, which browsers
follow, so that pages and their scripts agree.

Django reads them through FORMAT_MODULE_PATH. Other formats are Django's own.
"""
