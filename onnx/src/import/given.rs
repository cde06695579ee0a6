//! The attributes of an operator that is written out, each of which must be known to whoever reads it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use ir::{DType, Tensor};

use super::translation::SourceNode;
use crate::external::External;
use crate::proto::{AttributeProto, TypeProto};
use crate::{Error, tensor};

/// The attributes that nobody has asked for yet.
pub(super) struct GivenAttributes<'a>(RefCell<BTreeMap<&'a str, &'a AttributeProto>>);

impl<'a> GivenAttributes<'a> {
    pub(super) fn of(source: &SourceNode<'_, 'a>) -> Self {
        let each = source.attributes.iter().map(|&attribute| (attribute.name(), attribute));
        Self(RefCell::new(each.collect()))
    }

    fn take(&self, name: &str) -> Option<&'a AttributeProto> {
        self.0.borrow_mut().remove(name)
    }

    pub(super) fn floats(&self, name: &str) -> &'a [f32] {
        self.take(name).map_or(&[], |attribute| &attribute.floats)
    }

    pub(super) fn ints(&self, name: &str) -> &'a [i64] {
        self.take(name).map_or(&[], |attribute| &attribute.ints)
    }

    /// So many integers; zeros where they are left out.
    pub(super) fn each(&self, name: &str, count: usize) -> Result<Vec<i64>, Error> {
        match self.take(name) {
            None => Ok(vec![0; count]),
            Some(attribute) if attribute.ints.len() == count => Ok(attribute.ints.clone()),
            Some(attribute) => {
                let why = format!("it has {} elements instead of {count}", attribute.ints.len());
                Err(Error::invalid(format!("attribute `{name}`"), why))
            }
        }
    }

    pub(super) fn int(&self, name: &str, default: i64) -> i64 {
        self.take(name).map_or(default, AttributeProto::i)
    }

    /// An integer that stands for something else where it is left out.
    pub(super) fn whole(&self, name: &str) -> Option<i64> {
        self.take(name).map(AttributeProto::i)
    }

    /// An integer that must be there.
    pub(super) fn needed(&self, name: &str) -> Result<i64, Error> {
        let value = self.whole(name);
        value.ok_or_else(|| Error::invalid(format!("attribute `{name}`"), "it must be there"))
    }

    pub(super) fn float(&self, name: &str) -> Option<f32> {
        self.take(name).map(AttributeProto::f)
    }

    pub(super) fn text(&self, name: &str, default: &str) -> String {
        self.take(name).map_or_else(|| default.to_owned(), |attribute| text(attribute.s()))
    }

    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        self.take(name).map_or_else(Vec::new, |attribute| attribute.strings.iter().map(|s| text(s)).collect())
    }

    /// The dtype that an integer is the code of.
    pub(super) fn dtype(&self, name: &str) -> Result<Option<DType>, Error> {
        let Some(code) = self.whole(name) else { return Ok(None) };
        let what = format!("attribute `{name}`");
        match i32::try_from(code) {
            Ok(code) => tensor::dtype_of(code).map(Some).map_err(|e| e.inside(what)),
            Err(_) => Err(Error::invalid(what, format!("it is {code}, which is no element type"))),
        }
    }

    /// A type that the attribute holds.
    pub(super) fn ty(&self, name: &str) -> Option<&'a TypeProto> {
        self.take(name).and_then(|attribute| attribute.tp.as_ref())
    }

    /// A tensor that the attribute holds.
    pub(super) fn tensor(&self, name: &str, external: External<'_>) -> Result<Option<Tensor>, Error> {
        let what = || format!("attribute `{name}`");
        let Some(attribute) = self.take(name) else { return Ok(None) };
        let held = attribute.t.as_ref().ok_or_else(|| Error::invalid(what(), "it holds no tensor"))?;
        tensor::from_proto(held, external).map(Some).map_err(|e| e.inside(what()))
    }

    /// Takes an attribute that changes nothing.
    pub(super) fn ignore(&self, name: &str) {
        self.take(name);
    }

    /// Requires that nothing is left.
    pub(super) fn finish(&self) -> Result<(), Error> {
        match self.0.borrow().keys().next() {
            Some(name) => {
                Err(Error::unsupported(format!("attribute `{name}`"), "this program does not have it"))
            }
            None => Ok(()),
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
