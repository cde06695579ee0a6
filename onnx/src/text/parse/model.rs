//! Models, functions and graphs.

use super::{Parsed, Parser};
use crate::proto::{FunctionProto, GraphProto, ModelProto, OperatorSetIdProto, TensorProto, ValueInfoProto};
use crate::text::lex::Token;

impl<'a> Parser<'a> {
    pub(super) fn model(&mut self) -> Parsed<ModelProto> {
        let mut model = ModelProto::default();
        self.optional_list('<', '>', |p| p.model_entry(&mut model))?;
        model.graph = Some(self.graph()?);
        while self.token != Token::End {
            model.functions.push(self.function()?);
        }
        Ok(model)
    }

    fn model_entry(&mut self, model: &mut ModelProto) -> Parsed<()> {
        let wanted = "`ir_version`, `opset_import`, `producer_name`, `producer_version`, `domain`, `model_version`, \
                      `doc_string` or `metadata_props`";
        match self.key() {
            "ir_version" => model.ir_version = Some(self.value_of_key(|p| p.integer("int64"))?),
            "opset_import" => model.opset_import = self.value_of_key(Self::opsets)?,
            "producer_name" => model.producer_name = Some(self.text_of_key()?),
            "producer_version" => model.producer_version = Some(self.text_of_key()?),
            "domain" => model.domain = Some(self.text_of_key()?),
            "model_version" => model.model_version = Some(self.value_of_key(|p| p.integer("int64"))?),
            "doc_string" => model.doc_string = Some(self.text_of_key()?),
            "metadata_props" => model.metadata_props = self.value_of_key(Self::pairs)?,
            _ => return Err(self.unexpected(wanted)),
        }
        Ok(())
    }

    fn function(&mut self) -> Parsed<FunctionProto> {
        let mut function = FunctionProto::default();
        self.optional_list('<', '>', |p| p.function_entry(&mut function))?;
        function.name = Some(self.name("the function's name")?);
        self.optional_list('<', '>', |p| p.parameter(&mut function))?;
        function.input = self.list('(', ')', |p| p.typed_name(&mut function.value_info))?;
        self.arrow()?;
        function.output = self.list('(', ')', |p| p.typed_name(&mut function.value_info))?;
        function.value_info.extend(self.optional_list('<', '>', Self::value_info)?);
        function.node = self.nodes()?;
        Ok(function)
    }

    fn function_entry(&mut self, function: &mut FunctionProto) -> Parsed<()> {
        let wanted = "`domain`, `overload`, `opset_import`, `doc_string` or `metadata_props`";
        match self.key() {
            "domain" => function.domain = Some(self.text_of_key()?),
            "overload" => function.overload = Some(self.text_of_key()?),
            "opset_import" => function.opset_import = self.value_of_key(Self::opsets)?,
            "doc_string" => function.doc_string = Some(self.text_of_key()?),
            "metadata_props" => function.metadata_props = self.value_of_key(Self::pairs)?,
            _ => return Err(self.unexpected(wanted)),
        }
        Ok(())
    }

    /// An attribute of a function: a name, or a name with a default.
    fn parameter(&mut self, function: &mut FunctionProto) -> Parsed<()> {
        let name = self.name("the name of an attribute")?;
        if matches!(self.token, Token::Mark(':' | '=')) {
            let attribute = self.attribute_named(name)?;
            function.attribute_proto.push(attribute);
        } else {
            function.attribute.push(name);
        }
        Ok(())
    }

    /// An input or output of a function. Its type, where there is one, is said beside it.
    fn typed_name(&mut self, types: &mut Vec<ValueInfoProto>) -> Parsed<String> {
        let info = self.value_info()?;
        let name = info.name().to_owned();
        types.extend(info.r#type.is_some().then_some(info));
        Ok(name)
    }

    /// The key of an entry, which stays at hand; nothing where there is none.
    fn key(&self) -> &'a str {
        match self.token {
            Token::Word(word) => word,
            Token::Quoted(_) | Token::Number(_) | Token::Mark(_) | Token::Arrow | Token::End => "",
        }
    }

    fn value_of_key<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.advance()?;
        self.mark(':')?;
        read(self)
    }

    fn text_of_key(&mut self) -> Parsed<String> {
        self.value_of_key(|p| p.string("a string in quotes"))
    }

    fn opsets(&mut self) -> Parsed<Vec<OperatorSetIdProto>> {
        self.list('[', ']', |p| {
            let domain = p.string("a domain in quotes")?;
            p.mark(':')?;
            Ok(OperatorSetIdProto { domain: Some(domain), version: Some(p.integer("int64")?) })
        })
    }

    /// A graph. It lies three messages deeper than the graph around: in a node, in an attribute.
    pub(super) fn graph(&mut self) -> Parsed<GraphProto> {
        self.deeper(3, |p| {
            let mut graph = GraphProto { name: Some(p.name("the name of the graph")?), ..Default::default() };
            let mut tensors = Vec::new();
            graph.input = p.list('(', ')', |p| {
                let input = p.value_info()?;
                tensors.extend(p.tensor_of(&input)?);
                Ok(input)
            })?;
            p.arrow()?;
            graph.output = p.list('(', ')', Self::value_info)?;
            p.optional_list('<', '>', |p| {
                let info = p.value_info()?;
                match p.tensor_of(&info)? {
                    Some(tensor) => tensors.push(tensor),
                    None => graph.value_info.push(info),
                }
                Ok(())
            })?;
            graph.initializer = tensors;
            graph.node = p.nodes()?;
            Ok(graph)
        })
    }

    /// The tensor that a value is given with `=`, if it is.
    fn tensor_of(&mut self, info: &ValueInfoProto) -> Parsed<Option<TensorProto>> {
        if !self.takes('=')? {
            return Ok(None);
        }
        let ty = info.r#type.clone().unwrap_or_default();
        Ok(Some(TensorProto { name: info.name.clone(), ..self.tensor(&ty)? }))
    }
}
