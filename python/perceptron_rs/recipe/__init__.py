"""How data became the columns of a model: one object, which files, predictors, commands and exports ask."""
