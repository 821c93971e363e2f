#!/usr/bin/env python3
"""page.py SAMPLE: the report and the picture of made-up summaries (page_sample.c)
are well-formed, stand alone, are the same each time, and let nothing through that
a name could smuggle in. With a chromium, that it shows them without complaint."""
import base64
import hashlib
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import tap

SAMPLE = os.path.abspath(sys.argv[1])
PAGES = ["storm", "hostile", "odd", "step", "none", "one", "mixed"]
PICTURES = ["picture", "picture-hostile", "picture-odd", "picture-step",
            "picture-none", "picture-one", "picture-mixed", "map", "grid",
            "lines", "map-hostile", "grid-hostile", "lines-hostile"]
CHARTS = ["chart", "chart-hostile", "chart-odd", "chart-step", "chart-none",
          "chart-one", "chart-mixed"]
VOID = {"meta", "br", "img", "link", "input", "hr", "base"}


def sample(kind):
    p = subprocess.run([SAMPLE, kind], capture_output=True, timeout=60,
                       env=tap.environment())
    return p.returncode, p.stdout


class Reader(html.parser.HTMLParser):
    """Notes what is in a page, and every element that is not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.seen = [], [], set()
        self.attributes, self.scripts, self.heads = [], [], []
        self.policy = None
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if dict(attrs).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attrs)["content"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append("/" + tag)

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        if self.open and self.open[-1] == "h2":
            self.heads.append(data)


def outside(reader, text):
    """What would make a browser ask for something, or run something."""
    found = [a for a in reader.attributes
             if a[1] in ("src", "href", "srcset", "action", "data", "xlink:href")
             or a[1].startswith("on") or "url(" in a[2]]
    style = re.search("<style>(.*?)</style>", text, re.S)
    if style and re.search(r"url\(|@import|http", style.group(1)):
        found.append("the style sheet")
    bad = reader.seen & {"img", "iframe", "link", "object", "embed", "base",
                         "form", "video", "audio", "use", "image"}
    return found + sorted(bad)


def not_numbers(reader):
    """Coordinates and sizes that are none."""
    return [a for a in reader.attributes
            if a[1] in ("d", "style", "x", "y", "width", "height", "viewbox")
            and re.search(r"nan|inf|e[+-]?\d", a[2], re.I)]


def check_page(kind):
    code, raw = sample(kind)
    text = raw.decode("utf-8")
    reader = Reader(text)
    tap.case(f"{kind}: is written", code == 0 and text.endswith("</html>\n"),
             (code, text[-200:]))
    tap.case(f"{kind}: is the same again", sample(kind)[1] == raw)
    tap.case(f"{kind}: elements are closed", not reader.wrong, reader.wrong)
    tap.case(f"{kind}: asks for nothing", not outside(reader, text),
             outside(reader, text))
    tap.case(f"{kind}: coordinates are numbers", not not_numbers(reader),
             not_numbers(reader)[:5])
    tap.case(f"{kind}: no control characters",
             not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text))
    check_script(kind, reader)
    wrong = []
    for svg in re.findall("<svg.*?</svg>", text, re.S):
        try:
            xml.etree.ElementTree.fromstring(svg)
        except xml.etree.ElementTree.ParseError as error:
            wrong.append((error, svg[:300]))
    tap.case(f"{kind}: its pictures are XML", not wrong, wrong[:3])
    return text, reader


def check_script(kind, reader):
    script = "".join(reader.scripts)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    tap.case(f"{kind}: one script, the one that the policy names",
             "script-src 'sha256-" + digest + "'" in (reader.policy or "")
             and [a for a in reader.attributes if a[0] == "script"] == []
             and len(re.findall("alert", script)) == 0, reader.policy)


def check_picture(kind):
    code, raw = sample(kind)
    try:
        root = xml.etree.ElementTree.fromstring(raw)
        tags = {e.tag.split("}")[1] for e in root.iter()}
        bad = [(k, v) for e in root.iter() for k, v in e.attrib.items()
               if k.startswith("on") or "href" in k or "url(" in v
               or re.search(r"nan|inf\b", v, re.I)]
    except (xml.etree.ElementTree.ParseError, IndexError) as error:
        tags, bad = {"script"}, error
    tap.case(f"{kind}: is an SVG that stands alone", code == 0 and not bad and
             tags <= {"svg", "title", "style", "rect", "text", "path"},
             (code, tags, bad))
    tap.case(f"{kind}: is the same again", sample(kind)[1] == raw)


def check_chart(kind):
    for more in ["", "-ascii", "-colour"]:
        code, raw = sample(kind + more)
        text = raw.decode()
        lines = text.splitlines()
        plain = re.sub("\x1b\\[[0-9]*m", "", text) if more == "-colour" else text
        wide = [x for x in plain.splitlines() if len(x) > 80]
        name = lines[0] if "hostile" in kind and lines else ""
        tap.case(f"{kind}{more}: fits", code == 0 and
                 not [x for x in wide if "alert" not in x], wide[:3])
        tap.case(f"{kind}{more}: nothing moves the cursor",
                 "\x1b" not in plain and (more != "-ascii" or text.isascii()),
                 repr(name))
        tap.case(f"{kind}{more}: no blanks at the ends",
                 not re.search(" $", plain, re.M), plain)


def check_contents():
    text, reader = check_page("storm")
    want = ["Load against capacity", "Stability", "Sweep", "The scenario",
            "Figures",
            "What users get", "Work at api", "Queue", "Attempts",
            "Why calls failed", "Breakers", "Retry budget", "Calls under way", "Latency",
            "Waits before retries of web", "Some clients", "Policies",
            "What the figures are", "What the reasons are"]
    tap.case("storm: all rows, in this order", reader.heads == want, reader.heads)
    tap.case("storm: two plots for each row of curves",
             text.count("<figure>") == 2 * 12, text.count("<figure>"))
    tap.case("storm: figures have their intervals", "268 ± 1/s" in text
             and ">never<" in text and "12.7 ± 0.003 k/s" in text)
    tap.case("storm: the fault is named", ">stopped</span>" in text)
    tap.case("storm: what differs is marked", "<mark>attempts: 4</mark>" in text)
    tap.case("storm: how it was made", "bide sim metastable" in text
             and "Seed 1 to 20" in text)
    tap.case("storm: is small", len(text) < 150000, len(text))


def check_others():
    """What is not there is not shown; what does not go together is not mixed."""
    for kind in PAGES[1:]:
        text, reader = check_page(kind)
        if kind == "one":
            tap.case("one: no captions, and no faults",
                     "<figcaption></" not in text and 'class="fault' not in text
                     and text.count("<figure>") == 10, text.count("<figure>"))
        if kind == "mixed":
            tap.case("mixed: says so, and tells no services one by one",
                     "<h1>Scenarios side by side</h1>" in text
                     and not [h for h in reader.heads if "api" in h]
                     and text.count('class="ft"') == 1, reader.heads)


def check_browser():
    chromium = shutil.which("chromium")
    if not chromium or os.environ.get("BIDE_TEST_VALGRIND"):
        print("# no chromium: not looked at in a browser")
        return
    for kind in ["storm", "hostile", "odd"]:
        with tempfile.TemporaryDirectory() as there:
            with open(there + "/page.html", "wb") as f:
                f.write(sample(kind)[1])
            p = subprocess.run(
                [chromium, "--headless", "--no-sandbox", "--disable-gpu",
                 "--user-data-dir=" + there + "/profile",
                 "--enable-logging=stderr", "--dump-dom",
                 "file://" + there + "/page.html"],
                capture_output=True, timeout=60)
        told = [line for line in p.stderr.decode(errors="replace").splitlines()
                if "CONSOLE" in line]
        tap.case(f"{kind}: chromium shows it and has no complaint",
                 b"</footer>" in p.stdout and not told, told)


def main():
    check_contents()
    check_others()
    for kind in PICTURES:
        check_picture(kind)
    for kind in CHARTS:
        check_chart(kind)
    check_browser()
    tap.finish()


main()
