//! What an operator is, in words: its documentation, as data, from which the page of operators is made.
//!
//! The text of an operator that has a file of its own is the documentation of its struct
//! ([`attributes!`](crate::attributes)), that of a row is the documentation of a variant (`functions!`). Its first
//! paragraph is one sentence, what the operator does; the second has the shapes of operands and results. What is
//! special about it follows: empty axes, ties, NaN, what is undefined.

/// The documentation of an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct About {
    /// The text, in Markdown as rustdoc has it.
    pub text: &'static str,
    /// The module that it stands in.
    pub module: &'static str,
}

impl About {
    /// What the operator does, in one sentence.
    pub fn does(&self) -> &'static str {
        self.paragraph(0)
    }

    /// The shapes of operands and results, and dtypes where these are not the operands'.
    pub fn shapes(&self) -> &'static str {
        self.paragraph(1).trim_matches('`')
    }

    /// The group of operators that it belongs to: `nn`, say.
    pub fn group(&self) -> &'static str {
        self.module.split("::").nth(1).unwrap_or_default()
    }

    fn paragraph(&self, i: usize) -> &'static str {
        self.text.split("\n\n").nth(i).unwrap_or_default().trim()
    }
}

/// Declares the functions of a family, and a row of the registry for each.
///
/// ```text
/// functions! {
///     /// How the elements are combined.
///     pub enum GlobalPoolFn of "`x: [N, C, spatial…] → y: [N, C, 1…]`"; {
///         /// The mean.
///         Average = "GlobalAveragePool",
///     }
/// }
/// ```
///
/// The shapes are those of all rows. `with` behind the shapes gives all rows attributes that are written as something else.
macro_rules! functions {
    ($(#[doc = $about:literal])+ pub enum $function:ident of $shapes:literal; $rows:tt) => {
        functions! { $(#[doc = $about])+ pub enum $function of $shapes with &[]; $rows }
    };
    (
        $(#[doc = $about:literal])+
        pub enum $function:ident of $shapes:literal with $written:expr; {
            $(
                #[doc = $does:literal]
                $(#[doc = $more:literal])*
                $variant:ident = $name:expr,
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $function {
            $(
                #[doc = $does]
                #[doc = ""]
                #[doc = $shapes]
                $(#[doc = $more])*
                #[doc = ""]
                #[doc = concat!("ONNX: [", $name, "](https://onnx.ai/onnx/operators/onnx__", $name, ".html).")]
                $variant,
            )+
        }

        impl $function {
            /// Every function, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];
        }

        /// The rows of the registry.
        const ROWS: &[($function, crate::spec::Row)] = &[$((
            $function::$variant,
            crate::spec::Row::new($name)
                .with($written)
                .about($crate::about::About {
                    text: concat!(
                        $does, "\n\n", $shapes, "\n", $($more, "\n",)*
                        "\nONNX: [", $name, "](https://onnx.ai/onnx/operators/onnx__", $name, ".html).",
                    ),
                    module: module_path!(),
                }),
        ),)+];
    };
}
pub(crate) use functions;
