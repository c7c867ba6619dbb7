"""Data sets that people bring, in the forms in which they are published.

`recorded` says what a data set is; `server_machines` reads SMD, `telemetry` SMAP and MSL, `dated_columns` ETT and any
table with a column of labels, `ts_file` the archives of UCR and UEA; `data_forms` finds the reader by the name of the
form.
"""
