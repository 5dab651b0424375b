#!/usr/bin/env python3
"""What an HTML parser that shares no code with the server finds in pages.

usage: page_elements.py FILE...

Prints a JSON array with an object for each file: "elements", each with its "tag" and its "attributes" as pairs, in the order
of the page, "text", and "problems", such as an element that is not closed.
"""
import html.parser
import json
import sys

VOID = {"meta", "link", "input", "br", "rect", "line", "path"}


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.problems, self.open = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.elements.append({"tag": tag, "attributes": [[name, value or ""] for name, value in attributes]})
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append({"tag": tag, "attributes": [[name, value or ""] for name, value in attributes]})

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> in {self.open}")
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        self.texts.append(data)

    def handle_comment(self, data):
        self.problems.append(f"a comment: {data}")

    def handle_pi(self, data):
        self.problems.append(f"an instruction: {data}")


def read(file):
    reader = Reader()
    with open(file, encoding="utf-8", newline="") as page:
        reader.feed(page.read())
    reader.close()
    if reader.open:
        reader.problems.append(f"not closed: {reader.open}")
    return {"elements": reader.elements, "text": "".join(reader.texts), "problems": reader.problems}


print(json.dumps([read(file) for file in sys.argv[1:]]))
