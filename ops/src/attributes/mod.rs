//! One declaration of an operator's attributes, from which the payload, reading, writing and mapping follow.
//!
//! A field of the declaration is one attribute of ONNX, and looks like the field of a struct that it becomes:
//!
//! ```text
//! attributes! {
//!     /// Tile.
//!     #[derive(Clone, PartialEq, Debug)]
//!     pub struct Tile<D> {
//!         /// How many copies follow each other along each axis.
//!         pub repeats: Vec<D> as sizes,
//!     }
//! }
//! ```
//!
//! | a field | is |
//! |---|---|
//! | `axis: i64` | an attribute that must be given |
//! | `axis: i64 = 0` | one with ONNX's default (a test compares them with the [schemas](crate::schema)) |
//! | `axes: Option<Vec<i64>>` | one that may be absent, and then is not written either |
//! | `trans_a: bool as "transA" = false` | one that has another name here |
//! | `side: Side { "LOW" => Side::Low, "HIGH" => Side::High }` | one that is one of a few names or numbers |
//! | `outputs: i64 { 1..=3 }` | one whose values are [`Among`] some: a range, a set of dtypes, [`Clamped`] numbers |
//! | `blocksize: D as size`, `shape: Vec<D> as sizes` | a size, or several: unknown while an operator is drawn |
//! | `pool: Pooling<D> as part` | what several operators share: attributes of a [`Part`] |
//!
//! `struct Reduce of ReduceFn` has a field `function` besides: which operator of the family it is. `struct PRelu;` has no
//! attributes, `struct Unary(UnaryFn);` neither, but is a family. The type comes first, then the name, the values and
//! the default, each if there is one. What must hold beyond them is a function, named behind the struct: `check
//! Self::check;`. It takes what was read and the attributes given.
//!
//! One payload says by hand how it is [`Declared`]: each `Activation` has its own names and defaults.

mod value;

use ir::{Attributes, BadAttribute, Dim};

use crate::about::About;

pub use value::{Among, Clamped, Spelling, Value, read, read_among, read_choice, write, write_choice};

/// A payload that is read from attributes and written as such.
pub trait Declared: Sized {
    /// What its documentation says of it.
    const ABOUT: About;

    /// Which operator of a family; `()` where there is only one.
    type Function: Copy + PartialEq + 'static;
    /// The payload with sizes of another kind among its attributes; itself where there are none.
    type Over<D: Dim>;

    /// Builds the operator from its attributes.
    fn parse(function: Self::Function, given: &Attributes) -> Result<Self, BadAttribute>;

    /// Which operator of the family it is.
    fn function(&self) -> Self::Function;

    /// The attributes; [`parse`](Self::parse) gives the operator back.
    fn attributes(&self) -> Attributes;
}

/// Attributes that several operators share. One with sizes is generic over them and has a `map`, as a payload has.
pub trait Part: Sized {
    /// Reads them.
    fn read(given: &Attributes) -> Result<Self, BadAttribute>;

    /// Adds them to others.
    fn write(&self, all: &mut Attributes);
}

/// Sizes that are carried into another number system.
pub trait Sizes<D, E> {
    /// The sizes there.
    type Carried;

    /// Carries each.
    fn carried(&self, f: &mut dyn FnMut(D) -> E) -> Self::Carried;
}

impl<D: Dim, E: Dim> Sizes<D, E> for Vec<D> {
    type Carried = Vec<E>;

    fn carried(&self, f: &mut dyn FnMut(D) -> E) -> Vec<E> {
        self.iter().map(|&size| f(size)).collect()
    }
}

impl<D: Dim, E: Dim> Sizes<D, E> for Option<Vec<D>> {
    type Carried = Option<Vec<E>>;

    fn carried(&self, f: &mut dyn FnMut(D) -> E) -> Option<Vec<E>> {
        self.as_ref().map(|sizes| sizes.carried(f))
    }
}

/// Declares a payload with its attributes; see the [module](self).
macro_rules! attributes {
    (
        $(#[doc = $doc:literal])+
        #[derive($($derive:ident),+)]
        pub struct $name:ident;
    ) => {
        $(#[doc = $doc])+
        #[derive($($derive),+)]
        pub struct $name;

        impl $crate::attributes::Declared for $name {
            const ABOUT: $crate::about::About = attributes!(@about $($doc)+);
            type Function = ();
            type Over<E: ir::Dim> = $name;

            fn parse((): (), _: &ir::Attributes) -> Result<Self, ir::BadAttribute> {
                Ok(Self)
            }

            fn function(&self) {}

            fn attributes(&self) -> ir::Attributes {
                ir::Attributes::new()
            }
        }
    };
    (
        $(#[doc = $doc:literal])+
        #[derive($($derive:ident),+)]
        pub struct $name:ident($function:ty);
    ) => {
        $(#[doc = $doc])+
        #[derive($($derive),+)]
        pub struct $name(pub $function);

        impl $crate::attributes::Declared for $name {
            const ABOUT: $crate::about::About = attributes!(@about $($doc)+);
            type Function = $function;
            type Over<E: ir::Dim> = $name;

            fn parse(function: $function, _: &ir::Attributes) -> Result<Self, ir::BadAttribute> {
                Ok(Self(function))
            }

            fn function(&self) -> $function {
                self.0
            }

            fn attributes(&self) -> ir::Attributes {
                ir::Attributes::new()
            }
        }
    };
    (
        $(#[doc = $doc:literal])+
        #[derive($($derive:ident),+)]
        pub struct $name:ident $(<$d:ident>)? $(of $function:ty)? {
            $(
                $(#[$about:meta])*
                pub $field:ident: $ty:ty $(as $how:tt)? $({ $($values:tt)+ })? $(= $default:expr)?,
            )+
        }
        $(check $check:path;)?
    ) => {
        $(#[doc = $doc])+
        #[derive($($derive),+)]
        pub struct $name $(<$d = i64>)? {
            $(
                /// Which operator of the family.
                pub function: $function,
            )?
            $($(#[$about])* pub $field: $ty,)+
        }

        impl $crate::attributes::Declared for $name {
            const ABOUT: $crate::about::About = attributes!(@about $($doc)+);
            type Function = attributes!(@function $($function)?);
            type Over<E: ir::Dim> = attributes!(@over $name $($d E)?);

            #[allow(clippy::redundant_field_names, reason = "the field is there where there is a family")]
            fn parse(function: Self::Function, given: &ir::Attributes) -> Result<Self, ir::BadAttribute> {
                attributes!(@unused function $($function)?);
                let read = Self {
                    $(function: attributes!(@first function $function),)?
                    $($field: attributes!(
                        @read given $field [$($how)?] [$($($values)+)?] [$($default)?]
                    ),)+
                };
                $(let read = $check(read, given)?;)?
                Ok(read)
            }

            fn function(&self) -> Self::Function {
                attributes!(@own self $($function)?)
            }

            fn attributes(&self) -> ir::Attributes {
                let mut all = ir::Attributes::new();
                $(attributes!(@write all self $field [$($how)?] [$($($values)+)?]);)+
                all
            }
        }

        attributes!(@map $name [$($d)?] [$(function: $function)?] $([$field: $($how)?])+);
    };

    (@about $($doc:literal)+) => {
        $crate::about::About { text: concat!($($doc, "\n"),+), module: module_path!() }
    };

    (@function) => { () };
    (@function $function:ty) => { $function };
    (@over $name:ident) => { $name };
    (@over $name:ident $d:ident $e:ident) => { $name<$e> };
    (@own $self:ident) => { () };
    (@own $self:ident $function:ty) => { $self.function };
    (@unused $function:ident) => { let () = $function; };
    (@unused $function:ident $ty:ty) => {};
    (@first $function:ident $ty:ty) => { $function };

    (@default) => { None };
    (@default $default:expr) => { Some($default) };

    (@name $field:ident $onnx:literal) => { $onnx };
    (@name $field:ident $($how:ident)?) => { stringify!($field) };

    (@read $given:ident $field:ident [part] [] []) => {
        $crate::attributes::Part::read($given)?
    };
    (@read $given:ident $field:ident [$($how:tt)?] [] [$($default:expr)?]) => {
        $crate::attributes::read(
            $given, attributes!(@name $field $($how)?), attributes!(@default $($default)?)
        )?
    };
    (@read $given:ident $field:ident
        [$($how:tt)?] [$($spelling:expr => $choice:expr),+ $(,)?] [$($default:expr)?]) => {
        $crate::attributes::read_choice(
            $given,
            attributes!(@name $field $($how)?),
            &[$(($spelling, $choice)),+],
            attributes!(@default $($default)?),
        )?
    };
    (@read $given:ident $field:ident [$($how:tt)?] [$values:expr] [$($default:expr)?]) => {
        $crate::attributes::read_among(
            $given, attributes!(@name $field $($how)?), &$values, attributes!(@default $($default)?)
        )?
    };

    (@write $all:ident $self:ident $field:ident [part] []) => {
        $crate::attributes::Part::write(&$self.$field, &mut $all)
    };
    (@write $all:ident $self:ident $field:ident
        [$($how:tt)?] [$($spelling:expr => $choice:expr),+ $(,)?]) => {
        $crate::attributes::write_choice(
            &mut $all, attributes!(@name $field $($how)?), &$self.$field, &[$(($spelling, $choice)),+]
        )
    };
    (@write $all:ident $self:ident $field:ident [$($how:tt)?] $values:tt) => {
        $crate::attributes::write(&mut $all, attributes!(@name $field $($how)?), &$self.$field)
    };

    (@map $name:ident [] $function:tt $($field:tt)+) => {};
    (@map $name:ident [$d:ident] [] $([$field:ident: $($how:tt)?])+) => {
        impl<$d: ir::Dim> $name<$d> {
            /// This operator with its sizes in another number system.
            pub fn map<E: ir::Dim>(&self, f: &mut dyn FnMut($d) -> E) -> $name<E> {
                $name { $($field: attributes!(@carry self f $field $($how)?),)+ }
            }
        }
    };
    (@carry $self:ident $f:ident $field:ident size) => { $f($self.$field) };
    (@carry $self:ident $f:ident $field:ident sizes) => {
        $crate::attributes::Sizes::carried(&$self.$field, $f)
    };
    (@carry $self:ident $f:ident $field:ident part) => { $self.$field.map($f) };
    (@carry $self:ident $f:ident $field:ident $($onnx:literal)?) => { Clone::clone(&$self.$field) };
}
pub(crate) use attributes;

#[cfg(test)]
mod tests;
