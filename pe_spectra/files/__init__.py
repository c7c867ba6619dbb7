"""The only code that touches the disk.

`reading` opens what a person names, within a limit of bytes; `tables` finds out what a file is, and
`numpy_files`, `csv_table` with the lines of `csv_lines`, `safetensors_file`, `gguf_file`, `checkpoint`
read it; of several arrays `tensors`
chooses one by the names of `known_tables`; `json_toml` reads configurations and settings; `datasets`
reads series in time with their labels; `writer` puts complete files in place, all of them or none, and `ledger`
appends whole lines to one.
"""
