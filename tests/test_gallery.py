"""The gallery: its pages are made from its stored runs, the same every time, small, and each is told of."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

GALLERY = Path(__file__).parent.parent / "docs" / "gallery"


def gallery_pages() -> dict[str, str]:
    """What docs/gallery/make.py makes of the runs beside it."""
    spec = importlib.util.spec_from_file_location("gallery_make", GALLERY / "make.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    made: dict[str, str] = module.pages(GALLERY)
    return made


def test_the_gallery_is_made_from_its_stored_runs() -> None:
    before = (GALLERY / "runs.db").read_bytes()
    made = gallery_pages()

    assert made == gallery_pages()
    assert (GALLERY / "runs.db").read_bytes() == before
    assert sorted(made) == sorted(path.name for path in GALLERY.iterdir() if path.suffix in {".html", ".md"})
    assert all(len(text.encode()) < 300_000 for text in made.values())
    assert all(f"]({name})" in made["index.md"] for name in made if name != "index.md")
    assert made["index.md"] == (GALLERY / "index.md").read_text(encoding="utf-8")
    assert '<svg class="plot sum"' in made["engine.html"]
    assert "cache-state" in made["cache.html"]
