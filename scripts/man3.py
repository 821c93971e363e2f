#!/usr/bin/env python3
"""man3.py --list HEADER...           the pages that the headers make, a line each
man3.py OUTPUT_DIR HEADER...        writes them

The manual of the libraries, section 3, from the comments of the public headers, which
are written as a manual: a page for each header (bide_run.h.3), and for each function
in it a page that is that one (bide_run.3 says `.so man3/bide_run.h.3`)."""
import os
import re
import sys

LIBRARIES = {"run": "bide-run", "bide": "bide-run", "curl": "bide-curl",
             "curl_record": "bide-curl", "config": "bide-config",
             "observe": "bide-observe",
             "store": "bide-store", "fleet": "bide-fleet", "queue": "bide-queue"}


def comment_text(comment):
    """The lines of a comment, without its frame."""
    body = re.sub(r"^/\*+ ?|\s*\*/$", "", comment.strip())
    return [re.sub(r"^\s*\* ?", "", line) if i else line
            for i, line in enumerate(body.split("\n"))]


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga")
    text = text.replace("'", "\\(aq")
    return "\\&" + text if text.startswith((".", "'")) else text


def prose(lines):
    """Paragraphs are filled; what is indented stays as it is."""
    out, block = [], None
    for line in lines:
        indented = line.startswith("  ")
        if not line.strip():
            kind = None
        else:
            kind = "code" if indented else "text"
        if kind == "code" and block != "code":
            out += [".PP", ".RS 4", ".EX"]
        if kind == "text" and block == "code":
            out += [".EE", ".RE", ".PP"]
        if kind is None:
            out.append("" if block == "code" else ".PP")
            continue
        block = kind
        out.append(escape(line if kind == "code" else line.strip()))
    if block == "code":
        out += [".EE", ".RE"]
    return out


def items(text):
    """(comment, declarations) in the order of the header, and ("title", words)."""
    text = re.sub(r"^#(?:ifndef BIDE_\w+_H|include .*|endif|define BIDE_\w+_H)$", "",
                  text, flags=re.M)
    at = 0
    for m in re.finditer(r"^/\*.*?\*/$", text, flags=re.M | re.S):
        yield None, text[at:m.start()]
        title = re.match(r"/\* =+ (.*?) =+ \*/$", m.group(0))
        if title:
            yield "title", title.group(1)
        else:
            yield m.group(0), None
        at = m.end()
    yield None, text[at:]


def tidy(code):
    """A declaration as a reader wants it."""
    code = re.sub(r"^(BIDE_BEGIN_DECLS|BIDE_END_DECLS|#ifdef __cplusplus.*?#endif|"
                  r"#if.*?#endif)$", "", code, flags=re.M | re.S)
    code = re.sub(r"^static inline (.*?)\n\{\n.*?\n\}$", r"\1;", code,
                  flags=re.M | re.S)
    code = re.sub(r"^BIDE_API .*?_sized\(.*?;\n", "", code, flags=re.M | re.S)
    code = code.replace("BIDE_API ", "").replace("BIDE__X", "X")
    code = re.sub(r"^ +\w+ \*?_room\w*\[\d\];\n", "", code, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", code).strip("\n")


def functions(code):
    return re.findall(r"\b(bide_\w+)\(", re.sub(r"/\*.*?\*/|typedef.*?;|\{.*?\}|#define.*",
                                                "", code, flags=re.S))


def read(path):
    """(name of the header, its first comment, its sections, its functions)."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    name = os.path.basename(path)
    pieces = list(items(text))
    head = next(c for c, _ in pieces if c not in (None, "title"))
    found, body, pending = [], [], None
    for comment, rest in pieces:
        if comment == "title":
            body.append(("title", rest))
        elif comment is not None:
            if pending:
                body.append(("text", pending, ""))
            pending = comment if comment != head else None
        else:
            code = tidy(rest)
            if not code and not pending:
                continue
            if code:
                body.append(("text", pending, code))
                found += [f for f in functions(code) if f not in found]
                pending = None
    if pending:
        body.append(("text", pending, ""))
    return name, comment_text(head), body, found


def page(path):
    name, head, body, found = read(path)
    stem = os.path.splitext(name)[0]
    first = re.sub(r"^bide/\S+: ", "", head[0])
    rest = 1
    while not first.rstrip().endswith((".", ":")) and rest < len(head) and head[rest]:
        first += " " + head[rest]
        rest += 1
    what = re.split(r"(?<=[a-z)])[.:] |\.$", first)[0].rstrip(".:")
    names = ", ".join([f"bide_{name}", *found])
    out = [f'.TH "BIDE_{name.upper()}" 3 "" "bide" "Library functions"', ".SH NAME",
           escape(names) + " \\- " + escape(what), ".SH SYNOPSIS", ".EX",
           f"#include <bide/{name}>", "",
           escape(f"cc ... $(pkg-config --cflags --libs {LIBRARIES.get(stem, 'bide')})"),
           ".EE", ".SH DESCRIPTION"]
    out += prose([first[0].upper() + first[1:], *head[rest:]])
    for item in body:
        if item[0] == "title":
            out += [f'.SH "{escape(item[1]).upper()}"']
            continue
        _, comment, code = item
        if code:
            out += [".PP", ".EX"] + [escape(line) for line in code.split("\n")] + [".EE"]
        if comment:
            out += [".RS 4"] + prose(comment_text(comment)) + [".RE"]
    out += [".SH SEE ALSO", ".BR bide (1),", ".BR bide\\-policy (5)"]
    return "\n".join(out) + "\n"


def pages(headers):
    made = {}
    for path in headers:
        name, _, _, found = read(path)
        made[f"bide_{name}.3"] = path
        for function in found:
            made.setdefault(f"{function}.3", f"bide_{name}.3")
    return made


def main(args):
    if len(args) < 2:
        raise SystemExit(__doc__)
    made = pages(args[1:])
    if args[0] == "--list":
        print("\n".join(made))
        return
    for name, of in made.items():
        with open(os.path.join(args[0], name), "w", encoding="utf-8") as f:
            f.write(page(of) if of.endswith((".h", ".hpp")) else f".so man3/{of}\n")


main(sys.argv[1:])
