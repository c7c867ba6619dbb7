"""Write anew what is made of the program: the schema, and in pages outputs, tables of declarations, the notebook."""

import runpy

for name in ("schema", "readme", "study_page", "test_docs", "notebook"):
    runpy.run_module(f"tests.pages.{name}", run_name="__main__")
