"""Writes onnx/src/import/operators.txt from the operator schemas of the installed onnx package.

    .venv/bin/python scripts/operator_table.py > onnx/src/import/operators.txt
"""

import re
from importlib.metadata import version

from onnx.defs import get_all_schemas_with_history

OLDEST, NEWEST = 13, 28

HEAD = f"""\
# The operators of ONNX's default domain as of opset {NEWEST}. Each line: the name, the opsets that define it anew (`x`: that
# deprecate it), and the attributes it has in any opset from {OLDEST} on: `name@19` from opset 19 on, `name@13-17` in these opsets
# alone. Written by scripts/operator_table.py, from the operator schemas of onnx {re.match(r"[0-9]+[.][0-9]+", version("onnx"))[0]}.
"""


def row(name, definitions):
    """The line of an operator. `definitions` are its schemas by opset."""
    versions = sorted(definitions)
    held = {opset: [since for since in versions if since <= opset] for opset in range(OLDEST, NEWEST + 1)}
    held = {opset: definitions[since[-1]] for opset, since in held.items() if since}
    # What a deprecated operator had is still told from what no operator has.
    live = [opset for opset, schema in held.items() if not schema.deprecated] or list(held)
    words = [name, ",".join(f"{since}{'x' if definitions[since].deprecated else ''}" for since in versions)]
    for attribute in sorted({attribute for opset in live for attribute in held[opset].attributes}):
        opsets = [opset for opset in live if attribute in held[opset].attributes]
        assert opsets == list(range(opsets[0], opsets[-1] + 1)), f"{name} loses {attribute} for a while"
        if opsets[-1] < live[-1]:
            attribute += f"@{opsets[0]}-{opsets[-1]}"
        elif opsets[0] > live[0]:
            attribute += f"@{opsets[0]}"
        words.append(attribute)
    return " ".join(words)


def main():
    operators = {}
    for schema in get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= NEWEST:
            operators.setdefault(schema.name, {})[schema.since_version] = schema
    print(HEAD + "\n".join(row(name, operators[name]) for name in sorted(operators)))


if __name__ == "__main__":
    main()
