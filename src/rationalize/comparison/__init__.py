"""Many runs side by side: methods × data sets × seeds × gold shares × augmentations."""
