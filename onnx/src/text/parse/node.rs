//! Nodes.

use super::{Parsed, Parser};
use crate::proto::NodeProto;
use crate::text::lex::Token;

impl Parser<'_> {
    pub(super) fn nodes(&mut self) -> Parsed<Vec<NodeProto>> {
        self.mark('{')?;
        let mut nodes = Vec::new();
        while !self.takes('}')? {
            nodes.push(self.node()?);
        }
        Ok(nodes)
    }

    fn node(&mut self) -> Parsed<NodeProto> {
        let mut node = NodeProto::default();
        if self.takes('[')? {
            node.name = Some(self.name("the name of the node")?);
            self.mark(']')?;
        }
        node.output = self.names()?;
        if !self.takes('=')? {
            let wanted = if node.output.is_empty() { "a node or `}`" } else { "`=`" };
            return Err(self.unexpected(wanted));
        }
        (node.domain, node.op_type) = self.operator()?;
        if self.takes(':')? {
            node.overload = Some(self.name("the overload of the function")?);
        }
        node.attribute = self.optional_list('<', '>', Self::attribute)?;
        self.mark('(')?;
        node.input = self.names()?;
        self.mark(')')?;
        if node.attribute.is_empty() {
            node.attribute = self.optional_list('<', '>', Self::attribute)?;
        }
        Ok(node)
    }

    /// The domain and the name of an operator.
    fn operator(&mut self) -> Parsed<(Option<String>, Option<String>)> {
        let mut domain: Vec<String> = Vec::new();
        let mut name = self.name("the name of an operator")?;
        while self.takes('.')? {
            domain.push(name);
            name = self.name("the name of an operator or the next part of its domain")?;
        }
        Ok((Some(domain.join(".")), Some(name)))
    }

    /// Names with commas between them. One that is left out is empty; a comma behind the last name means nothing.
    fn names(&mut self) -> Parsed<Vec<String>> {
        let mut all = Vec::new();
        loop {
            match self.optional_name()? {
                Some(name) => all.push(name),
                None if self.token == Token::Mark(',') => all.push(String::new()),
                None => return Ok(all),
            }
            if !self.takes(',')? {
                return Ok(all);
            }
        }
    }
}
