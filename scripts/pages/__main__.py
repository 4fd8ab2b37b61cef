"""`make docs`."""

from pages import write_pages

write_pages()
