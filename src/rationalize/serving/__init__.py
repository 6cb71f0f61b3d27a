"""The HTTP service: explanations and predictions from one or more models, in small batches.

`create_app(settings, models)` in `app.py` makes the application, `run_service` in `run_service.py` runs it. Only
`served_model.py` deals with models; nothing here trains.
"""
