"""Parameters of estimators: values, ranges, options of commands, and how a call checks them."""
