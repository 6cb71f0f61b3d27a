"""The studio: try, annotate, audit, train and compare in the browser, on one machine.

`create_studio` in `studio_app.py` makes the application; each room of the page has a file of its own.
"""
