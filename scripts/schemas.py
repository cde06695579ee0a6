"""Prints ONNX's operator schemas as ops/src/schema/schemas.txt has them, from the installed onnx package.

    cargo xtask schema            writes the file
    cargo xtask schema --check    compares it
"""

import re
from importlib.metadata import version

from numpy import float32
from onnx import AttributeProto
from onnx.defs import OpSchema, get_all_schemas_with_history

HEAD = f"""\
# The operators of ONNX, every definition there has been; outside of the default domain, under DOMAIN.NAME. Printed by scripts/schemas.py
# from the schemas of onnx {re.match(r"[0-9]+[.][0-9]+", version("onnx"))[0]}; `cargo xtask schema` writes it.
#
# NAME SINCE            a definition, with the first opset that has it; then `deprecated`, `function` (it has a function body)
#   input X T           an operand and its type parameter; `X?` may be absent, `X...` may be repeated
#   output Y T          a result, likewise
#   where T float bool  the dtypes that a type parameter stands for
#   attribute p int = 2 an attribute, its kind and its default; without one it may be absent, or it is `required`
"""

ARITIES = {
    OpSchema.FormalParameterOption.Single: "",
    OpSchema.FormalParameterOption.Optional: "?",
    OpSchema.FormalParameterOption.Variadic: "...",
}


def dtype(spelled):
    """The name of a dtype: what is inside of `tensor()`; of sequences and the like, all of it."""
    inside = re.fullmatch(r"tensor\((\w+)\)", spelled)
    return inside[1] if inside else spelled.replace(" ", "")


def default(attribute):
    """What follows an attribute's kind."""
    if attribute.required:
        return " required"
    value = attribute.default_value
    if value.type == AttributeProto.UNDEFINED:
        return ""
    values = {
        AttributeProto.INT: lambda: [value.i],
        AttributeProto.INTS: lambda: value.ints,
        AttributeProto.FLOAT: lambda: [float32(value.f)],
        AttributeProto.STRING: lambda: [value.s.decode()],
        AttributeProto.STRINGS: lambda: [s.decode() for s in value.strings],
    }[value.type]()
    return " = " + " ".join(map(str, values))


def full_name(schema):
    """The name of an operator, with its domain in front of it if that is not the default one."""
    return f"{schema.domain}.{schema.name}" if schema.domain else schema.name


def lines(schema):
    """The lines of a definition."""
    words = ["deprecated"] * schema.deprecated
    words += ["function"] * (schema.has_function or schema.has_context_dependent_function)
    yield " ".join([full_name(schema), str(schema.since_version), *words])
    for kind, parameters in [("input", schema.inputs), ("output", schema.outputs)]:
        for parameter in parameters:
            yield f"  {kind} {parameter.name}{ARITIES[parameter.option]} {dtype(parameter.type_str)}"
    for constraint in sorted(schema.type_constraints, key=lambda c: c.type_param_str):
        allowed = sorted(dtype(spelled) for spelled in constraint.allowed_type_strs)
        yield f"  where {constraint.type_param_str} {' '.join(allowed)}"
    for name, attribute in sorted(schema.attributes.items()):
        kind = str(attribute.type).removeprefix("AttrType.").lower()
        yield f"  attribute {name} {kind}{default(attribute)}"


def main():
    schemas = sorted(get_all_schemas_with_history(), key=lambda schema: (full_name(schema), schema.since_version))
    print(HEAD)
    print("\n\n".join("\n".join(lines(schema)) for schema in schemas))


if __name__ == "__main__":
    main()
