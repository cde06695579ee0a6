//! Putting a kernel together: its own text, its parameters, its tensors and their types.

use std::fmt::Write as _;
use std::marker::PhantomData;

use ir::DType;

use super::class::{Class, Element, integer};
use super::library::{Functions, Piece, forward, link, pieces, shared};
use super::params::{Body, Field, Param};

/// Invocations per workgroup: a multiple of every vendor's subgroup.
pub(crate) const WORKGROUP: u32 = 64;

/// Who does what in a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum KernelForm {
    /// Each invocation does an element: the text has `element(i)`.
    Elements,
    /// Each workgroup does something together: the text has `team(number, local)`, which every invocation calls with the
    /// number of its workgroup and its own in that.
    Teams,
    /// The same, and the text knows of `subgroup`s.
    Subgroups,
}

/// The words before a kernel's own parameters: `zero` and `count`.
const ALWAYS: &str = "    // Zero, which no compiler can know.\n    zero: u32,\n    // The number of elements.\n    count: u32,\n";

/// A constant that a kernel is compiled with.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Constant {
    /// A choice.
    Bool(bool),
    /// A number of type `T`, or of the named alias, that `f32` and `f64` have exactly.
    Real(&'static str, f64),
}

/// A kernel, specialised to types. `P` are its parameters.
///
/// The text of its [`Body`] has a function `element(i)`, which is called for every element `i`, or what its
/// [`KernelForm`] says. It finds
///
/// - `params.name`, the parameters;
/// - for each tensor that it reads, `load_name(at)`, and `store_out(at, value)` for the one it writes;
/// - `T`, the type it computes in, and `BITS`, the width of the dtype behind it;
/// - further aliases and constants, as the operator's file says;
/// - with `views`, `places(i)`: which element of each of the first tensors belongs to element `i` of the result;
/// - the functions of `library/`, among them those that each class of dtypes has under the same name.
#[derive(Clone, Debug)]
pub(crate) struct Shader<P> {
    parts: Parts,
    params: PhantomData<fn(P)>,
}

/// A kernel, whatever the type of its parameters is. What is written from it is compiled once.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    name: &'static str,
    /// Tells bodies apart.
    body: &'static str,
    texts: &'static [&'static str],
    params: &'static [Field],
    computes: Option<DType>,
    reads: Vec<(&'static str, Element)>,
    writes: Element,
    aliases: Vec<(&'static str, &'static str)>,
    constants: Vec<(&'static str, Constant)>,
    meanings: Vec<(&'static str, &'static str)>,
    views: usize,
    form: KernelForm,
}

impl<P: Param> Shader<P> {
    /// A kernel of the operator `name` that computes in the type of a dtype and writes such elements.
    pub(crate) fn new(name: &'static str, body: Body<P>, computes: DType, writes: Element) -> Self {
        let parts = Parts {
            name,
            body: body.name,
            texts: body.texts,
            params: P::FIELDS,
            computes: Some(computes),
            reads: Vec::new(),
            writes,
            aliases: Vec::new(),
            constants: Vec::new(),
            meanings: Vec::new(),
            views: 0,
            form: KernelForm::Elements,
        };
        Self { parts, params: PhantomData }
    }

    /// A kernel that moves the elements of a tensor, `x`, whose type is `Bits`, and computes nothing.
    pub(crate) fn mover(name: &'static str, body: Body<P>, dtype: DType) -> Self {
        let element = Element::Bits(dtype);
        Self::new(name, body, dtype, element).reads("x", element).alias("Bits", element).computing_nothing()
    }

    /// A kernel that deals with the places of elements alone.
    pub(crate) fn counter(name: &'static str, body: Body<P>, writes: Element) -> Self {
        Self::new(name, body, DType::U32, writes).computing_nothing()
    }

    fn computing_nothing(mut self) -> Self {
        self.parts.computes = None;
        self
    }

    /// One more tensor to read.
    pub(crate) fn reads(mut self, name: &'static str, element: Element) -> Self {
        self.parts.reads.push((name, element));
        self
    }

    /// A name for the type in which elements are handled.
    pub(crate) fn alias(mut self, name: &'static str, element: Element) -> Self {
        self.parts.aliases.push((name, element.handled()));
        self
    }

    /// A constant of the kernel.
    pub(crate) fn constant(mut self, name: &'static str, value: Constant) -> Self {
        self.parts.constants.push((name, value));
        self
    }

    /// Where the text calls `name`, the function `target` is meant.
    pub(crate) fn means(mut self, name: &'static str, target: &'static str) -> Self {
        self.parts.meanings.push((name, target));
        self
    }

    /// The first `count` tensors are read through views.
    pub(crate) fn views(mut self, count: usize) -> Self {
        self.parts.views = count;
        self
    }

    /// Who does what in it.
    pub(crate) fn form(mut self, form: KernelForm) -> Self {
        self.parts.form = form;
        self
    }

    /// All of it but the type of its parameters.
    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }
}

impl Parts {
    /// The operator it is a kernel of.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The workgroups that so many elements take, or things that workgroups do.
    pub(crate) fn workgroups(&self, count: usize) -> usize {
        match self.form {
            KernelForm::Elements => count.div_ceil(WORKGROUP as usize),
            KernelForm::Teams | KernelForm::Subgroups => count,
        }
    }

    /// How many tensors it reads.
    pub(crate) fn arity(&self) -> usize {
        self.reads.len()
    }

    /// The dtypes that a device must have for it.
    pub(crate) fn needs(&self) -> impl Iterator<Item = DType> {
        self.reads.iter().map(|(_, element)| *element).chain([self.writes]).filter_map(Element::needs)
    }

    /// All that the source follows from (the texts and the parameters follow from the body): shaders with equal keys
    /// have equal sources, whatever operator they are of. Elements that are stored and reached alike are alike, so that
    /// words of every dtype move through one pipeline.
    pub(crate) fn key(&self) -> String {
        let Self {
            name: _,
            body,
            texts: _,
            params: _,
            computes,
            reads,
            writes,
            aliases,
            constants,
            meanings,
            views,
            form,
        } = self;
        let mut key = format!("{body} {computes:?} {}", writes.store(writes.stored()));
        for (name, element) in reads {
            key += &format!(" {name} {}", element.load(element.stored()));
        }
        key + &format!(" {aliases:?} {constants:?} {meanings:?} {views} {form:?}")
    }

    /// What the standard asks for before the text, and naga does not know yet: it takes what it needs to be enabled.
    pub(crate) fn extensions(&self) -> &'static str {
        match self.form {
            KernelForm::Elements | KernelForm::Teams => "",
            KernelForm::Subgroups => "enable subgroups;\n",
        }
    }

    /// The whole WGSL text.
    pub(crate) fn source(&self, functions: Functions) -> String {
        let own: Vec<_> = self.texts.iter().flat_map(|text| pieces(text)).collect();
        let accessors: Vec<_> = self.accessors().into_iter().chain(self.range()).collect();
        let accessors = accessors.iter().map(|text| Piece::new(text));
        let library = shared(self.computes.map(Class::of), functions);
        let known: Vec<_> = accessors.chain(library).chain(own.iter().copied()).collect();
        let target = |wanted| known.iter().find(|piece| piece.name == Some(wanted));
        let forwards = self.meanings.iter().filter_map(|(name, wanted)| forward(name, target(wanted)?.text));
        let forwards: Vec<_> = forwards.collect();
        let pieces: Vec<_> = known.iter().copied().chain(forwards.iter().map(|f| Piece::new(f))).collect();
        let (mut text, main) = (self.declarations(), entry(self.form));
        for piece in own.iter().filter(|piece| piece.name.is_none()).chain(&link(&main, &pieces)) {
            text.push_str(piece.text);
            text.push('\n');
        }
        text + &main
    }

    /// Parameters, tensors, types and constants.
    fn declarations(&self) -> String {
        let mut text = String::new();
        if self.reads.iter().any(|(_, e)| e.stored() == "f16") || self.writes.stored() == "f16" {
            text.push_str("enable f16;\n");
        }
        declare_structs(self.params, &mut text);
        let _ = write!(text, "struct Params {{\n{ALWAYS}{}", fields(self.params));
        if self.views > 0 {
            text.push_str("    views: array<u32>,\n");
        }
        text.push_str("}\n@group(0) @binding(0) var<storage, read> params: Params;\n");
        for (n, (name, element)) in self.reads.iter().enumerate() {
            let (n, ty) = (n + 1, element.stored());
            let _ = writeln!(text, "@group(0) @binding({n}) var<storage, read> {name}_data: array<{ty}>;");
        }
        let (n, ty) = (self.reads.len() + 1, self.writes.stored());
        let _ = writeln!(text, "@group(0) @binding({n}) var<storage, read_write> out_data: array<{ty}>;");
        if let Some(dtype) = self.computes {
            let _ = writeln!(text, "alias T = {};", Class::of(dtype).wgsl());
            // Where it is not read, dtypes that are computed alike share a kernel.
            if self.texts.iter().any(|text| text.contains("BITS")) {
                let _ = writeln!(text, "const BITS = {}u;", dtype.bits());
            }
        }
        for (name, ty) in &self.aliases {
            let _ = writeln!(text, "alias {name} = {ty};");
        }
        for (name, value) in &self.constants {
            let _ = match value {
                Constant::Bool(value) => writeln!(text, "const {name} = {value};"),
                Constant::Real("f64", value) => writeln!(text, "const {name} = {}lf;", exactly(*value)),
                Constant::Real(_, value) => writeln!(text, "const {name} = {}f;", exactly(*value)),
            };
        }
        text
    }

    /// The bounds of an integer dtype. They are functions because naga has no constant expressions of 64-bit integers.
    fn range(&self) -> Vec<String> {
        let Some((dtype, (low, high))) = self.computes.and_then(|d| Some((d, d.int_range()?))) else {
            return Vec::new();
        };
        let bound = |name: &str, value| {
            format!("fn {name}() -> T {{ return {}; }}", integer(Class::of(dtype), value))
        };
        vec![bound("lowest", low), bound("highest", high)]
    }

    /// The functions that reach the tensors.
    fn accessors(&self) -> Vec<String> {
        let load = |(name, element): &(&str, Element)| {
            let (ty, value) = (element.handled(), element.load(&format!("{name}_data[at]")));
            format!("fn load_{name}(at: u32) -> {ty} {{ return {value}; }}")
        };
        let (ty, value) = (self.writes.handled(), self.writes.store("value"));
        let store = format!("fn store_out(at: u32, value: {ty}) {{ out_data[at] = {value}; }}");
        self.reads
            .iter()
            .chain([&("out", self.writes)])
            .map(load)
            .chain([store, places(self.views)])
            .collect()
    }
}

/// The entry point: an invocation per element, or a workgroup for each thing that one does, spread over three dimensions, of
/// which the last row may be partly idle.
fn entry(form: KernelForm) -> String {
    match form {
        KernelForm::Elements => of_elements(),
        KernelForm::Teams => of_teams("", ""),
        KernelForm::Subgroups => of_teams(
            ",\n    @builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) invocation: u32,\n    \
             @builtin(subgroup_id) of_team: u32, @builtin(num_subgroups) count: u32",
            "    subgroup = Subgroup(size, invocation, of_team, count);\n",
        ),
    }
}

/// The number of the workgroup is the same for all of its invocations, so that they leave together.
fn of_teams(builtins: &str, first: &str) -> String {
    format!(
        "@compute @workgroup_size({WORKGROUP})\n\
         fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,\n\
         \x20   @builtin(local_invocation_index) local: u32{builtins}) {{\n\
         \x20   let number = id.x + groups.x * (id.y + groups.y * id.z);\n\
         \x20   if (number >= params.count) {{ return; }}\n\
         {first}\
         \x20   team(number, local);\n\
         }}\n"
    )
}

fn of_elements() -> String {
    format!(
        "@compute @workgroup_size({WORKGROUP})\n\
         fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {{\n\
         \x20   let i = id.x + groups.x * {WORKGROUP}u * (id.y + groups.y * id.z);\n\
         \x20   if (i >= params.count) {{ return; }}\n\
         \x20   element(i);\n\
         }}\n"
    )
}

fn declare_structs(of: &[Field], text: &mut String) {
    for field in of.iter().filter(|f| !f.fields.is_empty()) {
        declare_structs(field.fields, text);
        let _ = writeln!(text, "struct {} {{\n{}}}", field.wgsl, fields(field.fields));
    }
}

fn fields(of: &[Field]) -> String {
    of.iter().map(|f| ["    ", f.name, ": ", f.wgsl, ",\n"].concat()).collect()
}

/// What [`view_params`](crate::wgpu::record::view_params) packs, unpacked: one walk along the axes for all views, since a
/// division costs more than all else.
fn places(views: usize) -> String {
    let first: Vec<_> = (0..views).map(|v| format!("params.views[{v}]")).collect();
    let step = |v| format!("        at[{v}] += c * params.views[axis + {}u];\n", v + 1);
    let steps = (0..views).map(step).collect::<Vec<_>>().concat();
    format!(
        "fn places(i: u32) -> array<u32, {views}> {{\n\
         \x20   var at = array<u32, {views}>({});\n\
         \x20   var rest = i;\n\
         \x20   for (var a = 0u; a < params.views[{views}]; a++) {{\n\
         \x20       let axis = {}u + a * {}u;\n\
         \x20       let c = rest % params.views[axis];\n\
         \x20       rest = rest / params.views[axis];\n\
         {steps}    }}\n    return at;\n}}",
        first.join(", "),
        views + 1,
        views + 1,
    )
}

/// A number with a point and all digits that tell it from others.
fn exactly(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.1}") } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::DTypes;
    use std::collections::HashMap;

    const COPY: Body<()> =
        Body::new("copy", &["// As it is.\nfn element(i: u32) {\n    store_out(i, load_x(i));\n}"]);

    #[test]
    fn constants_are_written_exactly() {
        for (value, text) in [
            (0.25, "0.25f;"),
            (-1.5, "-1.5f;"),
            (3.0, "3.0f;"),
            (18_446_744_073_709_551_616.0, "18446744073709551616.0f;"),
        ] {
            let shader =
                Shader::mover("Copy", COPY, DType::F32).constant("SCALE", Constant::Real("f32", value));
            let source = shader.parts().source(Functions::Own);
            assert!(source.contains(&format!("const SCALE = {text}")), "{source}");
        }
    }

    #[test]
    fn shaders_with_equal_keys_have_equal_sources() {
        let mut sources = HashMap::new();
        for dtype in DTypes::IR4.iter() {
            let number = Element::Number(dtype);
            for shader in [
                Shader::mover("Copy", COPY, dtype),
                Shader::mover("Copy", COPY, dtype).views(1),
                Shader::mover("Copy", COPY, dtype).reads("y", Element::Low(DType::I64)),
                Shader::new("Copy", COPY, dtype, number).reads("x", number),
                Shader::new("Copy", COPY, dtype, number)
                    .reads("x", number)
                    .constant("UP", Constant::Bool(true)),
            ] {
                let source = shader.parts().source(Functions::Own);
                assert_eq!(sources.entry(shader.parts().key()).or_insert_with(|| source.clone()), &source);
            }
        }
        // Words of 16, 32 and 64 bits in three ways, and each dtype in two.
        assert_eq!(sources.len(), 3 * 3 + DTypes::IR4.len() * 2);
    }
}
