"""The HTTP service: explanations and predictions of one or several models, gathered into small batches.

`create_app(settings, models)` in `app.py` makes the application, `run_service` in `run_service.py` runs it. Only
`served_model.py` knows what a model is; nothing here trains.
"""
