#!/usr/bin/env python3
"""Prepares the book in docs/ for mdBook, and checks the built book (scripts/book.sh).

    book.py preprocess    the preprocessor that docs/book.toml names: reads the book from stdin and writes it to stdout
    book.py check FOLDER  checks the links, anchors and pictures of the built book in FOLDER

SUMMARY.md also lists pages from outside docs/, such as ../ARCHITECTURE.md. The preprocessor gives these pages a place
in the book and rewrites relative links, so that the same Markdown works in the book and in the repository.
"""

import html.parser
import json
import os.path
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Matches code blocks and inline code, whose text must not change, and links and pictures.
MARKDOWN = re.compile(
    r"(?P<code>^(?P<fence>```+)[^\n]*\n.*?^(?P=fence)[ \t]*$|(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<picture>!?)\[(?P<text>(?:!\[[^\]]*\]\([^)]*\)|`[^`]*`|[^\[\]])*)\]\((?P<target>[^()\s]+)\)",
    re.S | re.M,
)


def chapters(items):
    """All chapters in `items`, including their sub-chapters."""
    for item in items:
        if "Chapter" in item:
            yield item["Chapter"]
            yield from chapters(item["Chapter"]["sub_items"])


def place(source):
    """The path of a page in the book. `source` is its path relative to docs/, such as ../dataset/README.md."""
    path = source.removeprefix("../")
    if path == "README.md":
        return "index.md"
    if path.endswith("/README.md"):
        return path.removesuffix("/README.md") + ".md"
    return path


class Links:
    """Rewrites the links of the pages."""

    def __init__(self, root, pages, files):
        self.root = root
        # Maps the path of a page in the repository to its path in the book.
        self.pages = pages
        self.files = files
        self.broken = []

    def rewrite(self, source, content):
        """The text `content` of the page `source` (a path in the repository), with links that work in the book."""

        def replace(match):
            if match["code"]:
                return match[0]
            # The text of a link may contain a picture.
            text = MARKDOWN.sub(replace, match["text"])
            target = self.target(source, match["target"])
            if target is not None:
                return f"{match['picture']}[{text}]({target})"
            return text

        return MARKDOWN.sub(replace, content)

    def target(self, source, link):
        """The target in the book for the link `link` on page `source`; None if the target is not part of the book."""
        parts = urlsplit(link)
        if parts.scheme or not parts.path:
            return link
        path = os.path.normpath(os.path.join(os.path.dirname(source), unquote(parts.path)))
        anchor = f"#{parts.fragment}" if parts.fragment else ""
        here = os.path.dirname(self.pages[source])
        if not (self.root / path).exists():
            self.broken.append(f"{source}: {link}: there is no {path}")
            return link
        if path in self.pages:
            return os.path.relpath(self.pages[path], here or ".") + anchor
        # mdBook copies all files in docs/ except pages.
        if path.startswith("docs/") and not path.endswith(".md"):
            return os.path.relpath(path.removeprefix("docs/"), here or ".") + anchor
        return f"{self.files.rstrip('/')}/{path}{anchor}" if self.files else None


def preprocess():
    """Reads the book from stdin, sets the path of each page within the book, rewrites the links, and writes the book to
    stdout."""
    context, book = json.load(sys.stdin)
    docs = Path(context["root"]).resolve()
    root = docs.parent
    files = context["config"]["preprocessor"]["pages"].get("files", "")
    listed = [chapter for chapter in chapters(book["items"]) if chapter["path"]]
    repository = lambda chapter: os.path.normpath(os.path.join(docs.name, chapter["source_path"]))
    pages = {repository(chapter): place(chapter["source_path"]) for chapter in listed}
    links = Links(root, pages, files)
    for chapter in listed:
        source = repository(chapter)
        chapter["content"] = links.rewrite(source, chapter["content"])
        chapter["path"] = pages[source]
    if links.broken:
        sys.exit("\n".join(links.broken))
    json.dump(book, sys.stdout)


class Page(html.parser.HTMLParser):
    """The anchors and the links of a page."""

    def __init__(self, text):
        super().__init__()
        self.anchors = set()
        self.links = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def check(folder):
    """Reports the links within the built book that point to a missing file or anchor."""
    folder = Path(folder).resolve()
    pages = {path: Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    broken, checked = [], 0
    for path, page in pages.items():
        # The links of the 404 page are relative to the root of the book.
        if path == folder / "404.html":
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            checked += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            fragment = unquote(parts.fragment)
            if not target.is_relative_to(folder) or not target.exists():
                broken.append(f"{path.relative_to(folder)}: {link}: the file is missing")
            elif fragment and target in pages and fragment not in pages[target].anchors:
                broken.append(f"{path.relative_to(folder)}: {link}: the anchor is missing")
    if broken:
        sys.exit("\n".join(broken))
    print(f"{len(pages)} pages, {checked} links within the book: all targets exist")


def main():
    match sys.argv[1:]:
        case ["preprocess"]:
            preprocess()
        case ["preprocess", "supports", _]:
            pass
        case ["check", folder]:
            check(folder)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
