#!/usr/bin/env python3
"""The comments of bide/policy.h and bide/backoff.h, held against the code.

Each field's comment ends with its default, and names its range before that. The
default must be what the INIT macro has, the range what the table of options
(lib/options.c) has, and every scalar field must have one row of that table.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
HEADERS = ['include/bide/version.h', 'include/bide/rng.h',
           'include/bide/backoff.h', 'include/bide/outcome.h',
           'include/bide/policy.h']
# Members that no policy file sets, and structs that hold the others.
NOT_OPTIONS = {'size', 'rules', 'n_rules', 'wait', 'wait_ctx'}
FOREVER = 2 ** 63 - 1
UNITS = {'ns': 1, 'us': 1e3, 'ms': 1e6, 's': 1e9, 'min': 60e9, 'h': 3600e9}
faults = []


def fault(where, what):
    faults.append(f'{where}: {what}')


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return f.read()


def strip(text):
    return re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)


# ----- the headers -----

def structs(text):
    """name -> [(type, member, comment)] for each typedef struct."""
    found = {}
    for name, body in re.findall(r'typedef struct (\w+) \{(.*?)\n\}', text,
                                 flags=re.S):
        members = re.findall(
            r'^    ((?:const )?\w+ \*?)(\w+);[ ]*(?:/\*(.*?)\*/)?', body,
            flags=re.S | re.M)
        found[name] = [(t.strip(), m, ' '.join(c.split()))
                       for t, m, c in members]
    return found


def enums(text):
    """member -> key, for every X(NAME, "key"...), and the value of each."""
    keys, values = {}, {}
    for body in re.findall(r'#define BIDE_\w+\(X\)((?:.*\\\n)*.*)', text):
        names = re.findall(r'X\((BIDE_\w+),\s*"([^"]*)"', strip(body))
        for value, (name, key) in enumerate(names):
            keys[name], values[name] = key, value
    return keys, values


def macro(text, name):
    body = re.search(r'#define ' + name + r'\b((?:.*\\\n)*.*)', text).group(1)
    return strip(body.replace('\\\n', ' ')).strip()


def init_values(text, name):
    """The initialiser as nested lists of expressions."""
    body = macro(text, name)
    for inner in ('BIDE_BACKOFF_INIT', 'BIDE_BACKOFF_PART_INIT'):
        body = body.replace(inner, macro(text, inner))
    stack, word = [[]], ''
    depth = 0
    for c in body:
        if c == '(':
            depth += 1
        if c == ')':
            depth -= 1
        if c == '{':
            stack.append([])
        elif c in ',}' and depth == 0:
            if word.strip():
                stack[-1].append(word.strip())
            word = ''
            if c == '}':
                done = stack.pop()
                stack[-1].append(done)
        else:
            word += c
    return stack[0][0]


def constant(expression, values):
    names = {'BIDE_FOREVER': FOREVER, 'BIDE_UNLIMITED': 2 ** 32 - 1,
             'BIDE_SAME': -1, 'BIDE_MILLISECOND': 10 ** 6,
             'BIDE_SECOND': 10 ** 9, 'BIDE_MINUTE': 60 * 10 ** 9,
             'BIDE_HOUR': 3600 * 10 ** 9, 'NULL': None, 'true': True,
             'false': False, **values}
    expression = expression.replace('(double)', '')
    expression = re.sub(r'INT64_C\((\d+)\)', r'\1', expression)
    if 'sizeof' in expression:
        return 'sizeof'
    return eval(expression, {'__builtins__': {}}, names)  # our own header


def flatten(all_structs, name, tree, prefix=''):
    """path -> (type, comment, expression)."""
    out = {}
    members = all_structs[name]
    if len(members) != len(tree):
        fault(name, f'{len(members)} members, {len(tree)} initialised')
    for (type_, member, comment), value in zip(members, tree):
        if type_ == 'bide_delays':  # one value, of which a comment says `none`
            out[prefix + member] = (type_, comment, "'none'")
        elif isinstance(value, list):
            out.update(flatten(all_structs, type_, value, prefix + member + '.'))
        else:
            out[prefix + member] = (type_, comment, value)
    return out


# ----- the words of a comment -----

def quantity(text):
    """A number with an optional unit, or None."""
    text = text.strip()
    words = {'FOREVER': FOREVER, 'UNLIMITED': 2 ** 32 - 1, 'BIDE_SAME': -1,
             'SAME': -1, 'NULL': 'null', 'true': True, 'false': False}
    if text in words:
        return words[text]
    m = re.fullmatch(r'(2\^31|[\d.]+(?:e\d+)?)(?: (ns|us|ms|s|min|h))?', text)
    if not m:
        return None
    number = 2.0 ** 31 if m.group(1) == '2^31' else float(m.group(1))
    return number * UNITS.get(m.group(2), 1)


def said_default(comment):
    """What the last item of a comment says: '0: no hedging' says 0."""
    last = comment.split(';')[-1].split(':')[0].strip()
    value = quantity(last)
    return last if value is None else value


def said_range(comment):
    """(min, max, above_min) of the item that is a range; None for an open end."""
    for item in comment.split(';')[:-1]:
        item = item.split(',')[0].strip()
        m = re.fullmatch(r'(over )?(\S+(?: \w+)?) \.\. (\S+(?: \w+)?)', item)
        if m:
            return m.group(2), m.group(3), bool(m.group(1))
        m = re.fullmatch(r'(>=|over) (\S+)', item)
        if m:
            return m.group(2), None, m.group(1) == 'over'
    return None


# ----- the table of options -----

def options():
    """[(key, type, path, min, max, above_min)], as the compiler sees them."""
    text = subprocess.run([os.environ.get('CC', 'cc'), '-E', '-P', '-I', 'include',
                           '-iquote', '.', 'lib/options.c'], cwd=ROOT, check=True,
                          capture_output=True, text=True).stdout
    text = re.sub(r'" *"', '', text)  # literals that stand side by side
    rows = []
    for m in re.finditer(r'\{\s*"([\w.]+)",\s*BIDE_OPTION_(\w+),\s*'
                         r'__builtin_offsetof\s*\(bide_policy_conf, ([\w.]+)\),'
                         r'\s*([^,]+),\s*([^,]+),\s*(\w+),', text):
        key, type_, path, low, high, above = m.groups()
        rows.append((key, type_, path, eval(low), eval(high),
                     above in ('1', 'true')))
    return rows


def check_default(path, comment, expression, keys, values):
    said = said_default(comment)
    real = constant(expression, values)
    if expression.strip() in keys:
        real = keys[expression.strip()]
    elif real is None:
        real = 'null'
    if said != real:
        fault(path, f'the comment says {said}, INIT says {real}')


def check_range(row, comment):
    key, type_, _, low, high, above = row
    said = said_range(comment)
    if type_ in ('FLAG', 'CHOICE', 'DELAYS'):
        return
    if said is None:
        # attempt_timeout's "over 0; 10 s" and the like have one; all must
        fault(key, f'no range in "{comment}"')
        return
    said_low, said_high, said_above = said
    if quantity(said_low) is not None and quantity(said_low) != low:
        fault(key, f'the comment says from {said_low}, the table {low}')
    if said_above != above:
        fault(key, f'"over" in the comment: {said_above}, the table {above}')
    if said_high is None:
        if high < 2.0 ** 63:
            fault(key, f'no upper end in the comment, {high} in the table')
    elif quantity(said_high) is not None and quantity(said_high) != high:
        fault(key, f'the comment says to {said_high}, the table {high}')


def main():
    text = '\n'.join(read(h) for h in HEADERS)
    keys, values = enums(text)
    fields = flatten(structs(text), 'bide_policy_conf',
                     init_values(text, 'BIDE_POLICY_CONF_INIT'))
    rows = options()
    by_path = {}
    for row in rows:
        if row[2] in by_path:
            fault(row[0], f'a second row for {row[2]}')
        by_path[row[2]] = row

    for path, (_, comment, expression) in fields.items():
        if path in NOT_OPTIONS:
            continue
        if not comment:
            fault(path, 'no comment')
            continue
        check_default(path, comment, expression, keys, values)
        if path not in by_path:
            fault(path, 'no row in lib/options.c')
        else:
            check_range(by_path[path], comment)
    for path in by_path:
        if path not in fields:
            fault(path, 'a row in lib/options.c, and no such field')

    for line in faults:
        print(line)
    print(f'{len(fields)} fields, {len(rows)} options, {len(faults)} faults')
    # A parser that has lost its way must not look like a check that passed.
    if len(rows) < 50 or len(fields) < 50:
        return 1
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
