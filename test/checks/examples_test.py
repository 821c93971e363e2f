#!/usr/bin/env python3
"""examples_test.py COMPILER...: that checks.examples finds what it is there to find.

Each row is a comment, and what must be said of it; None: nothing.
"""

import pathlib
import sys
import tempfile

import examples

CODE = """
struct thing {
    int n;
};
int thing_open(struct thing *t, const char *name);
void thing_close(struct thing *t);
"""

GOOD = [
    ("a call", "    thing_open(&t, name);"),
    ("a value returned", "    if (thing_open(&t, name) < 0)\n        return -1;"),
    ("statements left out", "    if (t.n)\n        ...     // much\n    thing_close(&t);"),
    ("members left out", "    struct thing u = { .n = 1, ... };"),
    ("a function", "    static int f(void *arg)\n    {\n        ...\n    }\n"
                   "    int (*g)(void *) = f;"),
    ("a function on a line", "    static void f(void) { ... }\n    f();"),
    ("two examples", "    int a = 1;\n\nor:\n\n    int a = 2;"),
    ("one example with a gap", "    int a = 1;\n\n    a++;"),
    ("dots in a string", '    thing_open(&t, "; ... // ...");'),
    ("a table", "  one   the first;\n  two   the second"),
]

BAD = [
    ("no such function", "    thing_shut(&t);", "thing_shut"),
    ("too few arguments", "    thing_open(&t);", "too few arguments"),
    ("too many arguments", "    thing_close(&t, name);", "too many arguments"),
    ("arguments left out", "    thing_open(&t, ...);", "expected expression"),
    ("no such member", "    t.size = 1;", "no member named"),
    ("no such member, initialized", "    struct thing u = { .size = 1 };", "size"),
    ("another type", "    thing_open(name, name);", "incompatible"),
    ("no such name", "    thing_open(&u, name);", "undeclared"),
    ("a name of the first example", "    int a = 1;\n\nor:\n\n    a = 2;", "undeclared"),
    ("a format", '    printf("%s", t.n);', "format"),
    ("words", "    ... and then it is closed", "error"),
    ("reflowed", "    int a = 1;    // the\nfirst int b = 2;\n    a = 3;", "blank line"),
    ("reflowed at the end", "    int a = 1;    // the\nfirst\n\nText.", "blank line"),
    ("C as a table", "  thing_shut(&t);", "C is indented by four"),
    ("an assignment as a table", "  int a = 1;  // one", "C is indented by four"),
    ("indented by three", "   thing_open(&t, name);", "indented by 3"),
]

NAMES_BAD = [
    ("declares what is tested", "int thing_shut(struct thing *t);", "thing_shut"),
    ("declares the library", "int bide_shut(void);", "bide_shut"),
]


def complaints(compiler, folder, text, names="struct thing t;\nconst char *name;\n"):
    rows = "".join((" * " + row).rstrip() + "\n" for row in text.split("\n"))
    source = f"/* thing.h: a thing.\n *\n{rows} */\n#include <stddef.h>\n{CODE}"
    (folder / "thing.h").write_text(source)
    unit, blocks = examples.unit_of("thing.h", source, names, {})
    said = list(examples.mistakes_of_form("thing.h", blocks))
    said += list(examples.mistakes_of_names("thing.h", names))
    if unit:
        said.append(examples.compile_unit(compiler, examples.flags_for(folder), unit))
    return "\n".join(said).strip()


def main(compiler):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        def row(title, said, want):
            nonlocal failed
            if want not in said if want else said:
                failed += 1
                print(f"{title}: expected {want or 'nothing'!r}, got:\n{said}\n")
        folder = pathlib.Path(folder)
        for title, text in GOOD:
            row(title, complaints(compiler, folder, text), None)
        for title, text, want in BAD:
            row(title, complaints(compiler, folder, text), want)
        for title, names, want in NAMES_BAD:
            row(title, complaints(compiler, folder, "  no C", names), want)
    print(f"{len(GOOD + BAD + NAMES_BAD)} rows, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
