"""Other tools: what this library tells, in the form that they take.

- `skore_checks`: checks for the reports of skore

Each module loads the tool that it is for on use, from an extra of the same name. What results themselves can do,
`log_to_mlflow` for example, is in the rooms of the results.
"""
