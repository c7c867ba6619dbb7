"""The only code that touches the disk.

`reading` opens what a person names, within a limit of bytes; `tables` finds out what a file is and
`npy`, `npz`, `csv_table`, `safetensors_file`, `checkpoint` read it; `known_tables` knows the tensors
of models; `json_file` and `toml` read configurations and settings; `encoding` makes bytes of arrays;
`writer` puts complete files in place, all of them or none.
"""
