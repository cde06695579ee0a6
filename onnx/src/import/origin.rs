//! Which node of a program a node of the graph comes from.

use std::rc::Rc;

/// Where a node of a graph comes from: a node of the program, and the calls and iterations that it was met in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// The bodies that it is in, the outermost first.
    pub path: Path,
    /// The position of the program's node in the innermost of them. Initializers have that of the node whose body they
    /// are in.
    pub node: usize,
    /// Whether the node is one of several that an operator of the program is written out in.
    pub is_inner: bool,
}

/// Bodies inside each other, the outermost first. None is the main graph.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Path(Rc<[Within]>);

/// A body, and the node that it is run by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Within {
    /// The position of the node that holds the body, or calls it, in the body around.
    pub node: usize,
    /// Which body it is.
    pub inside: Inside,
}

/// Which body of a node is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inside {
    /// The one that an If takes: whether that is `then_branch`.
    Branch(bool),
    /// The body of a Loop, Scan or `SequenceMap`, in its iteration of this number, from 0.
    Iteration(usize),
    /// A function, by its position in the program.
    Call(usize),
    /// A body that the node runs once, beside other bodies of its own: its place in the order in which they
    /// run.
    Stage(usize),
    /// A body that is not run, but only looked at for what it would give.
    Types,
}

impl Origin {
    /// The position of the node of the main graph that it comes from: itself, or the one that holds or calls the outermost body.
    pub fn outermost(&self) -> usize {
        self.path.bodies().first().map_or(self.node, |within| within.node)
    }
}

impl Inside {
    /// The side, if the body is one of an If: whether it is `then_branch`.
    pub const fn side(self) -> Option<bool> {
        match self {
            Self::Branch(side) => Some(side),
            Self::Iteration(_) | Self::Call(_) | Self::Stage(_) | Self::Types => None,
        }
    }

    /// The iteration, if the body is one of a loop.
    pub const fn iteration(self) -> Option<usize> {
        match self {
            Self::Iteration(iteration) => Some(iteration),
            Self::Branch(_) | Self::Call(_) | Self::Stage(_) | Self::Types => None,
        }
    }
}

impl Path {
    /// This path with one more body inside.
    #[must_use]
    pub fn with(&self, node: usize, inside: Inside) -> Self {
        Self(self.0.iter().copied().chain([Within { node, inside }]).collect())
    }

    /// The bodies, the outermost first.
    pub fn bodies(&self) -> &[Within] {
        &self.0
    }

    /// Whether this is the main graph.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
