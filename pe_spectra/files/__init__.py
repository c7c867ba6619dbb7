"""The only code that touches the disk.

`reading` opens what a person names, within a limit of bytes; `toml` reads settings files;
`writer` puts complete files in place, all of them or none.
"""
