"""The site: `sphinx-build -W docs out/site`, with the extra `docs` alone and without a network.

Notebooks are shown as they were rendered: `tests/docs` carries them out, as it does all examples.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cluster_abm import __version__

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "cluster_abm"
author = "The cluster_abm developers"
copyright = f"2026, {author}"
release = version = __version__
language = "en"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    # Pages of the reference, made from the package: docs/_extensions.
    "generated_pages",
    "examples_as_code",
    "glossary_terms",
    "players",
]
exclude_patterns = ["_extensions", "**.ipynb_checkpoints"]

# Rendered beforehand: the site needs neither a kernel nor minutes.
nb_execution_mode = "off"
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "mystnb.unknown_mime_type"]

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
python_use_unqualified_type_names = True
napoleon_google_docstring = True
napoleon_use_ivar = True
toc_object_entries_show_parents = "hide"
napoleon_custom_sections = [("Class attributes", "attributes")]
# Single backticks in docstrings are code.
default_role = "code"
# Extras that are not needed to read docstrings.
autodoc_mock_imports = ["gymnasium"]

copybutton_prompt_text = r"\$ |>>> |In \[\d*\]: "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "cluster_abm"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
# Pages that stand alone need no list of their neighbours.
html_sidebars = {
    name: []
    for name in (
        "start",
        "speed",
        "glossary",
        "gallery",
        "compared",
        "references",
        "release",
        "changelog",
        "contributing",
    )
}
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
}
