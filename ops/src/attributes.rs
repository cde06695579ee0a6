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
//! | `upper: bool as "side" { "LOW" => false, "HIGH" => true }` | one that is one of a few names or numbers |
//! | `blocksize: D as size`, `shape: Vec<D> as sizes` | a size, or several: unknown while an operator is drawn |
//! | `pool: Pooling<D> as part` | what several operators share: attributes of a [`Part`] |
//!
//! `struct Reduce of ReduceFn` has a field `function` besides: which operator of the family it is. `struct PRelu;` has no
//! attributes, `struct Unary(UnaryFn);` neither, but is a family. What must hold beyond kinds is a function, named
//! behind the struct: `check Self::check;`. It takes what was read and the attributes given.

use ir::{Attribute, Attributes, BadAttribute, DType, Dim};

/// A payload that is read from attributes and written as such.
pub trait Declared: Sized {
    /// Which operator of a family; `()` where there is only one.
    type Function: Copy + 'static;
    /// The payload with sizes of another kind among its attributes; itself where there are none.
    type Over<D: Dim>;

    /// Builds the operator from its attributes.
    fn parse(function: Self::Function, given: &Attributes) -> Result<Self, BadAttribute>;

    /// The attributes; [`parse`](Self::parse) gives the operator back.
    fn attributes(&self) -> Attributes;
}

/// The value of an attribute.
pub trait Value: Sized {
    /// The value that is given. `None` where it is not, and that means nothing of itself.
    fn read(given: &Attributes, name: &str) -> Result<Option<Self>, BadAttribute>;

    /// What is written, if anything is.
    fn written(&self) -> Option<Attribute>;
}

impl Value for bool {
    fn read(given: &Attributes, name: &str) -> Result<Option<Self>, BadAttribute> {
        given.get(name).map(|_| given.get_flag(name, false)).transpose()
    }

    fn written(&self) -> Option<Attribute> {
        Some(Attribute::Int(i64::from(*self)))
    }
}

impl Value for i64 {
    fn read(given: &Attributes, name: &str) -> Result<Option<Self>, BadAttribute> {
        given.get(name).map(|_| given.get_int(name, None)).transpose()
    }

    fn written(&self) -> Option<Attribute> {
        Some(Attribute::Int(*self))
    }
}

impl Value for f32 {
    fn read(given: &Attributes, name: &str) -> Result<Option<Self>, BadAttribute> {
        given.get(name).map(|_| given.get_float(name, 0.0)).transpose()
    }

    fn written(&self) -> Option<Attribute> {
        Some(Attribute::Float(*self))
    }
}

impl Value for DType {
    fn read(given: &Attributes, name: &str) -> Result<Option<Self>, BadAttribute> {
        given.get_dtype(name)
    }

    fn written(&self) -> Option<Attribute> {
        Some(Attribute::DType(*self))
    }
}

impl Value for Vec<i64> {
    fn read(given: &Attributes, name: &str) -> Result<Option<Self>, BadAttribute> {
        given.get_ints(name)
    }

    fn written(&self) -> Option<Attribute> {
        Some(Attribute::Ints(self.clone()))
    }
}

impl<T: Value> Value for Option<T> {
    fn read(given: &Attributes, name: &str) -> Result<Option<Self>, BadAttribute> {
        T::read(given, name).map(Some)
    }

    fn written(&self) -> Option<Attribute> {
        self.as_ref().and_then(T::written)
    }
}

/// The value of an attribute that is given, has a default, or means something by its absence.
pub fn read<T: Value>(given: &Attributes, name: &str, default: Option<T>) -> Result<T, BadAttribute> {
    T::read(given, name)?.or(default).ok_or_else(|| BadAttribute::Missing(name.to_owned()))
}

/// Writes a value, if there is something to write.
pub fn write(all: &mut Attributes, name: &str, value: &impl Value) {
    if let Some(value) = value.written() {
        all.set(name, value);
    }
}

/// How ONNX spells one of a few values: a name or a number.
pub trait Spelling: Copy + std::fmt::Display {
    /// The attribute.
    fn written(self) -> Attribute;

    /// The spelling that is given, as text; an error if that is of another kind.
    fn given(given: &Attributes, name: &str) -> Result<String, BadAttribute>;
}

impl Spelling for &'static str {
    fn written(self) -> Attribute {
        Attribute::Name(self.to_owned())
    }

    fn given(given: &Attributes, name: &str) -> Result<String, BadAttribute> {
        given.get_name(name, "")
    }
}

impl Spelling for i64 {
    fn written(self) -> Attribute {
        Attribute::Int(self)
    }

    fn given(given: &Attributes, name: &str) -> Result<String, BadAttribute> {
        given.get_int(name, None).map(|number| number.to_string())
    }
}

/// The value of an attribute that is one of a few, each with its spelling.
pub fn read_choice<S: Spelling, T: Copy>(
    given: &Attributes,
    name: &str,
    choices: &[(S, T)],
    default: Option<T>,
) -> Result<T, BadAttribute> {
    if given.get(name).is_none() {
        return default.ok_or_else(|| BadAttribute::Missing(name.to_owned()));
    }
    let value = S::given(given, name)?;
    let found = choices.iter().find(|(spelling, _)| spelling.to_string() == value);
    found.map(|&(_, choice)| choice).ok_or_else(|| {
        let spellings: Vec<String> = choices.iter().map(|(spelling, _)| spelling.to_string()).collect();
        let wanted = match spellings.as_slice() {
            [one, other] => format!("{one} or {other}"),
            all => format!("one of {}", all.join(", ")),
        };
        BadAttribute::Value { name: name.to_owned(), value, wanted }
    })
}

/// Writes one of a few values.
pub fn write_choice<S: Spelling, T: PartialEq>(
    all: &mut Attributes,
    name: &str,
    value: &T,
    choices: &[(S, T)],
) {
    if let Some((spelling, _)) = choices.iter().find(|(_, choice)| choice == value) {
        all.set(name, spelling.written());
    }
}

/// Attributes that several operators share. What is sizes among them is `D`.
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
        $(#[$meta:meta])*
        pub struct $name:ident;
    ) => {
        $(#[$meta])*
        pub struct $name;

        impl $crate::attributes::Declared for $name {
            type Function = ();
            type Over<E: ir::Dim> = $name;

            fn parse((): (), _: &ir::Attributes) -> Result<Self, ir::BadAttribute> {
                Ok(Self)
            }

            fn attributes(&self) -> ir::Attributes {
                ir::Attributes::new()
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident($function:ty);
    ) => {
        $(#[$meta])*
        pub struct $name(pub $function);

        impl $crate::attributes::Declared for $name {
            type Function = $function;
            type Over<E: ir::Dim> = $name;

            fn parse(function: $function, _: &ir::Attributes) -> Result<Self, ir::BadAttribute> {
                Ok(Self(function))
            }

            fn attributes(&self) -> ir::Attributes {
                ir::Attributes::new()
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(<$d:ident>)? $(of $function:ty)? {
            $(
                $(#[$about:meta])*
                pub $field:ident: $ty:ty $(as $how:tt $({ $($spelling:expr => $choice:expr),+ $(,)? })?)? $(= $default:expr)?,
            )+
        }
        $(check $check:path;)?
    ) => {
        $(#[$meta])*
        pub struct $name $(<$d = i64>)? {
            $(
                /// Which operator of the family.
                pub function: $function,
            )?
            $($(#[$about])* pub $field: $ty,)+
        }

        impl $crate::attributes::Declared for $name {
            type Function = attributes!(@function $($function)?);
            type Over<E: ir::Dim> = attributes!(@over $name $($d E)?);

            #[allow(clippy::redundant_field_names, reason = "the field is there where there is a family")]
            fn parse(function: Self::Function, given: &ir::Attributes) -> Result<Self, ir::BadAttribute> {
                attributes!(@unused function $($function)?);
                let read = Self {
                    $(function: attributes!(@first function $function),)?
                    $($field: attributes!(
                        @read given $field [$($how $({ $($spelling => $choice),+ })?)?] [$($default)?]
                    ),)+
                };
                $(let read = $check(read, given)?;)?
                Ok(read)
            }

            fn attributes(&self) -> ir::Attributes {
                let mut all = ir::Attributes::new();
                $(attributes!(@write all self $field [$($how $({ $($spelling => $choice),+ })?)?]);)+
                all
            }
        }

        attributes!(@map $name [$($d)?] [$(function: $function)?] $([$field: $($how)?])+);
    };

    (@function) => { () };
    (@function $function:ty) => { $function };
    (@over $name:ident) => { $name };
    (@over $name:ident $d:ident $e:ident) => { $name<$e> };
    (@unused $function:ident) => { let () = $function; };
    (@unused $function:ident $ty:ty) => {};
    (@first $function:ident $ty:ty) => { $function };

    (@default) => { None };
    (@default $default:expr) => { Some($default) };

    (@read $given:ident $field:ident [] [$($default:expr)?]) => {
        $crate::attributes::read($given, stringify!($field), attributes!(@default $($default)?))?
    };
    (@read $given:ident $field:ident [part] []) => {
        $crate::attributes::Part::read($given)?
    };
    (@read $given:ident $field:ident [size] [$($default:expr)?]) => {
        $crate::attributes::read($given, stringify!($field), attributes!(@default $($default)?))?
    };
    (@read $given:ident $field:ident [sizes] [$($default:expr)?]) => {
        $crate::attributes::read($given, stringify!($field), attributes!(@default $($default)?))?
    };
    (@read $given:ident $field:ident [$onnx:literal] [$($default:expr)?]) => {
        $crate::attributes::read($given, $onnx, attributes!(@default $($default)?))?
    };
    (@read $given:ident $field:ident
        [$onnx:literal { $($spelling:expr => $choice:expr),+ }] [$($default:expr)?]) => {
        $crate::attributes::read_choice(
            $given, $onnx, &[$(($spelling, $choice)),+], attributes!(@default $($default)?)
        )?
    };

    (@write $all:ident $self:ident $field:ident []) => {
        $crate::attributes::write(&mut $all, stringify!($field), &$self.$field)
    };
    (@write $all:ident $self:ident $field:ident [part]) => {
        $crate::attributes::Part::write(&$self.$field, &mut $all)
    };
    (@write $all:ident $self:ident $field:ident [size]) => {
        $crate::attributes::write(&mut $all, stringify!($field), &$self.$field)
    };
    (@write $all:ident $self:ident $field:ident [sizes]) => {
        $crate::attributes::write(&mut $all, stringify!($field), &$self.$field)
    };
    (@write $all:ident $self:ident $field:ident [$onnx:literal]) => {
        $crate::attributes::write(&mut $all, $onnx, &$self.$field)
    };
    (@write $all:ident $self:ident $field:ident [$onnx:literal { $($spelling:expr => $choice:expr),+ }]) => {
        $crate::attributes::write_choice(&mut $all, $onnx, &$self.$field, &[$(($spelling, $choice)),+])
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
mod tests {
    use super::*;

    attributes! {
        /// Has a field of most kinds.
        #[derive(Clone, PartialEq, Debug)]
        pub struct Sample<D> {
            /// Must be given.
            pub axis: i64,
            /// Has a default and another name.
            pub trans_a: bool as "transA" = false,
            /// May be absent.
            pub axes: Option<Vec<i64>>,
            /// One of two numbers.
            pub taxicab: bool as "p" { 1 => true, 2 => false } = false,
            /// Sizes.
            pub shape: Vec<D> as sizes,
        }
        check Self::has_a_shape;
    }

    impl Sample {
        fn has_a_shape(self, _: &Attributes) -> Result<Self, BadAttribute> {
            if self.shape.is_empty() { Err(BadAttribute::Unknown("shape".to_owned())) } else { Ok(self) }
        }
    }

    fn least() -> Attributes {
        Attributes::new().int("axis", 3).ints("shape", &[2, 5])
    }

    #[test]
    fn what_is_not_given_has_its_default_and_what_has_none_is_missing() {
        let sample = Sample::parse((), &least()).expect("all that is needed");
        assert_eq!((sample.trans_a, sample.axes.clone(), sample.taxicab), (false, None, false));
        let written =
            Attributes::new().int("axis", 3).flag("transA", false).int("p", 2).ints("shape", &[2, 5]);
        assert_eq!(Declared::attributes(&sample), written);
        let none = Attributes::new().ints("shape", &[1]);
        assert_eq!(Sample::parse((), &none), Err(BadAttribute::Missing("axis".to_owned())));
    }

    #[test]
    fn values_of_other_kinds_and_other_choices_are_refused() {
        let refused = |given: &Attributes| Sample::parse((), given).expect_err("a bad attribute").to_string();
        assert_eq!(refused(&least().float("axis", 1.0)), "attribute `axis` must be an integer");
        assert_eq!(refused(&least().int("p", 3)), "attribute `p` is 3; 1 or 2");
        assert_eq!(refused(&least().name("p", "1")), "attribute `p` must be an integer");
        assert_eq!(refused(&least().ints("shape", &[])), "there is no attribute `shape` here");
    }

    #[test]
    fn sizes_are_carried_and_nothing_else() {
        let given = least().flag("transA", true).ints("axes", &[7]).int("p", 1);
        let sample = Sample::parse((), &given).expect("legal attributes");
        let doubled = sample.map(&mut |size: i64| 2 * size);
        assert_eq!(doubled, Sample { shape: vec![4, 10], ..sample });
    }
}
