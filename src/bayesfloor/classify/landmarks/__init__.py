"""Estimators on landmark models (`learn.landmarks`): a classifier and a regressor, on one base."""
