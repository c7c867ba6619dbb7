"""A page of a report as a browser reads it: its elements, and the text in each."""

from html.parser import HTMLParser

#: Elements of HTML that have no end.
_VOID = {"meta"}
#: What begins or ends -> the elements that end there, for this page leaves their ends out.
_ENDED = {"td": ("td",), "tr": ("td", "tr"), "/tbody": ("td", "tr"), "/table": ("td", "tr")}


class Reading(HTMLParser):
    """Elements in their order, with their attributes; texts, and the names of those that they stand in."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.inside = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._end(tag)
        if tag not in _VOID:
            self.inside.append(tag)

    def handle_endtag(self, tag):
        self._end(f"/{tag}")
        assert self.inside, tag
        assert self.inside.pop() == tag, tag

    def handle_data(self, data):
        self.texts.append((tuple(self.inside), data))

    def _end(self, mark):
        for tag in _ENDED.get(mark, ()):
            if self.inside[-1:] == [tag]:
                self.inside.pop()

    @property
    def tags(self):
        return [tag for tag, _ in self.elements]

    def collect(self, tag):
        """Texts within elements of a name, each piece by itself."""
        return [text for inside, text in self.texts if tag in inside]
