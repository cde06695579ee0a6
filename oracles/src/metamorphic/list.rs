//! The one list of relations.

use super::relation::{Holds, Relation, Rewrite};
use super::{arithmetic, batch, beside, detour, functions, leaves, order, scale, spelling, sums};

/// Every relation.
pub static ALL: &[Relation] = &[
    Relation {
        name: "fence",
        does: "puts Identity nodes after values",
        holds: Holds::Exactly,
        because: "Identity gives back its operand",
        rewrite: Rewrite::Graph(detour::fence),
    },
    Relation {
        name: "barrier",
        does: "cuts values in two with Split, and joins them with Concat",
        holds: Holds::Exactly,
        because: "Concat joins the parts that Split made, in their order",
        rewrite: Rewrite::Graph(detour::barrier),
    },
    Relation {
        name: "transpose-pair",
        does: "transposes values, and transposes them back",
        holds: Holds::Exactly,
        because: "the second permutation is the inverse of the first",
        rewrite: Rewrite::Graph(detour::transpose_pair),
    },
    Relation {
        name: "reshape-pair",
        does: "flattens values, and gives them back their shapes",
        holds: Holds::Exactly,
        because: "the elements keep their row-major order",
        rewrite: Rewrite::Graph(detour::reshape_pair),
    },
    Relation {
        name: "unsqueeze-pair",
        does: "gives values one more axis, and takes it away",
        holds: Holds::Exactly,
        because: "an axis of size 1 holds no order",
        rewrite: Rewrite::Graph(detour::unsqueeze_pair),
    },
    Relation {
        name: "dead-branch",
        does: "adds nodes on which no output depends",
        holds: Holds::Exactly,
        because: "what no output depends on has no effect",
        rewrite: Rewrite::Graph(beside::dead_branch),
    },
    Relation {
        name: "extra-output",
        does: "gives out values that were inside the graph",
        holds: Holds::Exactly,
        because: "giving a value out does not change it; engines have to keep it, which stops fusions",
        rewrite: Rewrite::Graph(beside::extra_output),
    },
    Relation {
        name: "duplicate",
        does: "computes a node twice, and shares its uses between the two",
        holds: Holds::Exactly,
        because: "a node is a function of its operands: computed twice, or once for both uses, it gives the same",
        rewrite: Rewrite::Graph(beside::duplicate),
    },
    Relation {
        name: "constant-to-input",
        does: "makes inputs of constants",
        holds: Holds::Exactly,
        because: "an operator sees the same operand, known earlier or later",
        rewrite: Rewrite::Graph(leaves::constant_to_input),
    },
    Relation {
        name: "input-to-constant",
        does: "makes constants of inputs",
        holds: Holds::Exactly,
        because: "as above; where all inputs go, the whole graph can be folded",
        rewrite: Rewrite::Graph(leaves::input_to_constant),
    },
    Relation {
        name: "outline",
        does: "moves a part of the graph into a function and calls it",
        holds: Holds::Exactly,
        because: "a call means the function's body with its arguments",
        rewrite: Rewrite::Graph(functions::outline_part),
    },
    Relation {
        name: "wrap",
        does: "moves the whole graph into a function and calls it",
        holds: Holds::Exactly,
        because: "as above, with nothing left outside but the call",
        rewrite: Rewrite::Graph(functions::wrap),
    },
    Relation {
        name: "inline",
        does: "replaces calls by the functions' bodies",
        holds: Holds::Exactly,
        because: "as above, the other way round",
        rewrite: Rewrite::Graph(functions::inline_calls),
    },
    Relation {
        name: "reorder",
        does: "writes the nodes in another topological order",
        holds: Holds::Exactly,
        because: "values depend on operands, not on the order of the nodes",
        rewrite: Rewrite::Graph(order::reorder),
    },
    Relation {
        name: "commute",
        does: "exchanges the operands of a sum, a product or a logical operator",
        holds: Holds::Exactly,
        because: "IEEE 754 defines + and × so, and so are integers and bits; of NaN only that it is one counts",
        rewrite: Rewrite::Graph(arithmetic::commute),
    },
    Relation {
        name: "subtract",
        does: "writes a − b as a + (−b)",
        holds: Holds::Exactly,
        because: "IEEE 754 defines subtraction so, and integers wrap around",
        rewrite: Rewrite::Graph(arithmetic::subtract),
    },
    Relation {
        name: "expand",
        does: "broadcasts an operand with an Expand of its own",
        holds: Holds::Exactly,
        because: "every element meets the same element as before",
        rewrite: Rewrite::Graph(arithmetic::expand),
    },
    Relation {
        name: "scale",
        does: "scales a chain of linear operators by 2ᵏ, and back",
        holds: Holds::Exactly,
        because: "a factor of 2ᵏ changes exponents alone, and all roundings along; asked only where numbers are far from overflow and denormals",
        rewrite: Rewrite::Graph(scale::scale),
    },
    Relation {
        name: "opset",
        does: "writes the graph in an older opset: attributes for inputs, and inputs for attributes",
        holds: Holds::Exactly,
        because: "an operator that both opsets have means the same in both",
        rewrite: Rewrite::Graph(spelling::opset),
    },
    Relation {
        name: "rename",
        does: "gives nodes and inner values other names",
        holds: Holds::Exactly,
        because: "names have no meaning",
        rewrite: Rewrite::Spelling(spelling::rename),
    },
    Relation {
        name: "constant-node",
        does: "makes Constant nodes of initializers",
        holds: Holds::Exactly,
        because: "both give a value its number; the short attributes (`value_ints` and others) hold the same numbers",
        rewrite: Rewrite::Spelling(spelling::constant_node),
    },
    Relation {
        name: "batch-split",
        does: "computes an operator on two parts of its batch",
        holds: Holds::WithinBounds,
        because: "a slice of the result depends on that slice of the operand alone; other shapes may be computed in other blocks",
        rewrite: Rewrite::Graph(batch::batch_split),
    },
    Relation {
        name: "reassociate",
        does: "combines the terms of a sum, or the factors of a product, in another order",
        holds: Holds::WithinBounds,
        because: "the same in real numbers; in floating point every order rounds differently",
        rewrite: Rewrite::Graph(sums::reassociate),
    },
    Relation {
        name: "transposed-product",
        does: "writes A·B as (Bᵀ·Aᵀ)ᵀ",
        holds: Holds::WithinBounds,
        because: "(A·B)ᵀ = Bᵀ·Aᵀ; sums may be taken in another order",
        rewrite: Rewrite::Graph(arithmetic::transposed_product),
    },
];

/// The relation of that name.
pub fn find(name: &str) -> Option<&'static Relation> {
    ALL.iter().find(|relation| relation.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for relation in ALL {
            assert!(
                find(relation.name).is_some_and(|found| std::ptr::eq(found, relation)),
                "{}",
                relation.name
            );
        }
    }
}
