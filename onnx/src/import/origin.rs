//! Which node of a program a node of the graph comes from.

use std::rc::Rc;

use crate::program::{Body, Node, Program};

/// Where a node of a graph comes from: a node of the program, and the calls and iterations that it was met in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// The bodies that it is in, the outermost first.
    pub path: Path,
    /// The position of the program's node in the innermost of them; that of none for what an output is taken apart into.
    /// Initializers have that of the node whose body they are in.
    pub node: usize,
    /// Whether the node is one of several that an operator of the program is written out in.
    pub is_inner: bool,
}

/// Bodies inside each other, the outermost first. None is the main graph.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Path(Rc<[Within]>);

/// A body, and the node that it is run by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Within {
    /// The position of the node that holds the body, or calls it, in the body around.
    pub node: usize,
    /// Which body it is.
    pub inside: Inside,
}

/// Which body of a node is run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
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
    /// The position of no node: for what an output is taken apart into.
    pub(super) const NOWHERE: usize = usize::MAX;

    /// The position of the node of the main graph that it comes from: itself, or the one that holds or calls the outermost body.
    pub fn outermost(&self) -> usize {
        self.path.bodies().first().map_or(self.node, |within| within.node)
    }

    /// The node of the program, if it has this path.
    pub fn find<'p>(&self, program: &'p Program) -> Option<&'p Node> {
        self.path.body(program)?.nodes.get(self.node)
    }

    /// What the node is called within the whole program: `loop[2]/branch[then]/add`. A node of the main graph has its
    /// name, which may be empty.
    pub fn name(&self, program: &Program) -> String {
        let Some(node) = self.find(program) else { return String::new() };
        match self.path.name(program).as_str() {
            "" => node.rest.name().to_owned(),
            path => format!("{path}/{}", called(node, self.node)),
        }
    }

    /// What the program calls the node's first result; empty where no graph has that, as in a function.
    pub fn value<'p>(&self, program: &'p Program) -> &'p str {
        let is_called = |within: &Within| matches!(within.inside, Inside::Call(_));
        let in_graphs = !self.path.bodies().iter().any(is_called);
        self.find(program)
            .filter(|_| in_graphs)
            .and_then(|node| program.main.result(node))
            .unwrap_or_default()
    }

    /// What tells the node from others of the program, for messages: its name or position, and its operator.
    pub fn label(&self, program: &Program) -> Option<String> {
        let node = self.find(program)?;
        Some(if self.path.is_empty() {
            node.label(self.node)
        } else {
            format!("node `{}` ({})", self.name(program), node.rest.op_type())
        })
    }
}

/// What a node is called in the name of a path.
fn called(node: &Node, position: usize) -> String {
    match node.rest.name() {
        "" => format!("{}#{position}", node.rest.op_type()),
        name => name.to_owned(),
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

    /// Which body of the node it is, behind the node's name.
    fn suffix(self) -> String {
        match self {
            Self::Branch(true) => "[then]".to_owned(),
            Self::Branch(false) => "[else]".to_owned(),
            Self::Iteration(number) => format!("[{number}]"),
            Self::Call(_) | Self::Stage(_) | Self::Types => String::new(),
        }
    }
}

impl Within {
    /// The body, of a node of this one.
    fn of<'p>(self, program: &'p Program, around: &'p Body) -> Option<&'p Body> {
        let node = around.nodes.get(self.node)?;
        let attribute = |name: &str| node.attributes.iter().find(|attribute| attribute.rest.name() == name);
        match self.inside {
            Inside::Branch(true) => attribute("then_branch")?.body.as_ref(),
            Inside::Branch(false) => attribute("else_branch")?.body.as_ref(),
            Inside::Call(function) => Some(&program.functions.get(function)?.scope.body),
            Inside::Stage(place) => node.bodies().nth(place).or_else(|| node.bodies().last()),
            Inside::Iteration(_) | Inside::Types => node.bodies().next(),
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

    /// The innermost of the bodies.
    pub fn body<'p>(&self, program: &'p Program) -> Option<&'p Body> {
        self.0.iter().try_fold(&program.main.body, |around, within| within.of(program, around))
    }

    /// What it is called: `loop[2]/branch[then]`. Empty for the main graph.
    pub fn name(&self, program: &Program) -> String {
        let mut around = Some(&program.main.body);
        let mut steps = Vec::new();
        for within in self.bodies() {
            let Some(node) = around.and_then(|body| body.nodes.get(within.node)) else { break };
            steps.push(called(node, within.node) + &within.inside.suffix());
            around = around.and_then(|body| within.of(program, body));
        }
        steps.join("/")
    }

    /// Whether one of the bodies is not run, but only looked at.
    pub(super) fn is_looked_at(&self) -> bool {
        self.0.iter().any(|within| within.inside == Inside::Types)
    }

    /// This path as one of a body's first turn: all turns of a loop have one body.
    pub(super) fn of_any_turn(&self) -> Self {
        let first = |within: &Within| match within.inside {
            Inside::Iteration(_) => Within { inside: Inside::Iteration(0), ..*within },
            _ => *within,
        };
        Self(self.0.iter().map(first).collect())
    }

    /// Whether this is the main graph.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
