//! Tensors.

use std::fmt::Display;

use super::{Printer, pair, says};
use crate::proto::TensorProto;
use crate::proto::tensor_proto::{DataLocation, DataType};
use crate::tensor::elements::Elements;
use crate::text::floats::Float;
use crate::text::names::{name, quoted, separated};

/// Elements break their lines before this column.
const WIDTH: usize = 110;

impl Printer {
    /// A tensor with its name, as graphs list them.
    pub(super) fn initializer(&mut self, tensor: &TensorProto) {
        self.tensor_type_of(tensor);
        self.push(format!(" {} = ", name(tensor.name())));
        self.content(tensor);
    }

    /// A tensor that is an attribute. Behind a `=`, so that external data is not taken for a shape.
    pub(super) fn tensor(&mut self, tensor: &TensorProto) {
        self.tensor_type_of(tensor);
        if !tensor.name().is_empty() {
            self.push(format!(" {}", name(tensor.name())));
        }
        self.push(if is_external(tensor) { " = " } else { " " });
        self.content(tensor);
    }

    fn tensor_type_of(&mut self, tensor: &TensorProto) {
        self.element_type(tensor.data_type());
        if !tensor.dims.is_empty() {
            self.push(format!("[{}]", separated(tensor.dims.iter())));
        }
    }

    /// All that a tensor says beyond its type and name.
    fn content(&mut self, tensor: &TensorProto) {
        let TensorProto {
            dims: _,
            data_type,
            segment,
            float_data: _,
            int32_data: _,
            string_data: _,
            int64_data: _,
            name: _,
            doc_string,
            raw_data: _,
            external_data,
            data_location: _,
            double_data: _,
            uint64_data: _,
            metadata_props,
        } = tensor;
        self.leave_out("doc_string of a tensor", says(doc_string.as_deref()));
        self.leave_out("metadata_props of a tensor", !metadata_props.is_empty());
        self.leave_out("segment of a tensor", segment.is_some());
        let dtype = DataType::try_from(data_type.unwrap_or_default()).unwrap_or_default();
        let elements = Elements::of(tensor, dtype);
        if is_external(tensor) {
            let has_more = elements.is_none_or(|elements| !elements.is_empty());
            self.leave_out("elements of a tensor beside those outside", has_more);
            self.push(format!("[{}]", separated(external_data.iter().map(pair))));
        } else {
            self.leave_out("external_data of a tensor that is not external", !external_data.is_empty());
            self.leave_out("elements of a tensor that are not as its type has them", elements.is_none());
            self.elements(&elements.unwrap_or_else(Elements::none));
        }
    }

    fn elements(&mut self, elements: &Elements<'_>) {
        match elements {
            Elements::Int32(all) => self.braced(all.iter()),
            Elements::Int64(all) => self.braced(all.iter()),
            Elements::Uint64(all) => self.braced(all.iter()),
            Elements::Float(all) => self.braced(all.iter().map(|v| v.shown())),
            Elements::Double(all) => self.braced(all.iter().map(|v| v.shown())),
            Elements::String(all) => {
                let all: Vec<String> = all.iter().map(|bytes| self.string(bytes)).collect();
                self.braced(all.iter());
            }
        }
    }

    /// Elements on one line if they fit on a line of their own, and else on as many as it takes.
    fn braced(&mut self, elements: impl Iterator<Item: Display>) {
        let mut lines = vec![String::new()];
        let most = WIDTH.saturating_sub(2 * (self.depth + 1) + ",".len());
        for element in elements.map(|element| element.to_string()) {
            match lines
                .last_mut()
                .filter(|line| line.is_empty() || line.len() + ", ".len() + element.len() <= most)
            {
                Some(line) if line.is_empty() => *line = element,
                Some(line) => *line = format!("{line}, {element}"),
                None => lines.push(element),
            }
        }
        self.push("{");
        if let [line] = &lines[..] {
            self.push(line);
        } else {
            self.depth += 1;
            self.lines(&lines, |printer, line| printer.push(line));
            self.depth -= 1;
            self.line();
        }
        self.push("}");
    }

    /// Bytes as a string in quotes.
    pub(super) fn string(&mut self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        self.leave_out("bytes of a string that are no UTF-8", text.as_bytes() != bytes);
        quoted(&text).to_string()
    }
}

fn is_external(tensor: &TensorProto) -> bool {
    tensor.data_location() == DataLocation::External
}
