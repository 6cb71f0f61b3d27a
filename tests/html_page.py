"""An HTML page, parsed for tests."""

from __future__ import annotations

from html.parser import HTMLParser


class Page(HTMLParser):
    """Every element with its attributes, and the visible text."""

    VOID = ("meta", "input", "br", "img")

    def __init__(self, page):
        super().__init__()
        self.elements, self.open, self.text = [], [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data

    def ids(self):
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]
