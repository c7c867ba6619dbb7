"""Write anew what pages quote of the program: outputs, tables of quantities and of findings, the notebook."""

import runpy

for name in ("readme", "study_page", "test_docs", "notebook"):
    runpy.run_module(f"tests.pages.{name}", run_name="__main__")
