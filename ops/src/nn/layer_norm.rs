//! `LayerNormalization`: the trailing axes standardised, then scaled and shifted.

use crate::nn::normalize::{draw_epsilon, edges, some_elements, staged, standardize, standardized_apart};
use crate::prelude::*;

attributes! {
    /// The axes from `axis` on standardised together by their own mean and variance.
    ///
    /// `x: [a…, b…], scale, bias: broadcast to x → y: as x, mean, inverse: [a…, 1…]`
    ///
    /// (x - mean)/√(variance + ε)·scale + bias. The bias may be absent, and so may the second and third output: the
    /// mean and 1/√(variance + ε), of the dtype `stash_type`, in which the first stage is done.
    ///
    /// ONNX: [LayerNormalization](https://onnx.ai/onnx/operators/onnx__LayerNormalization.html).
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct LayerNorm {
        /// The first axis of those that are standardised together.
        pub axis: i64 = -1,
        /// Added to the variance.
        pub epsilon: f32 = 1e-5,
        /// The dtype of the first stage: f32 or bf16.
        pub stash: DType as "stash_type" { 1 => DType::F32, 16 => DType::BF16 } = DType::F32,
        /// How many outputs there are: Y, then Mean, then `InvStdDev`.
        pub outputs: i64 { 1..=3 } = 1,
    }
}

impl Single for LayerNorm {
    const ROW: Row = Row::new("LayerNormalization").with(&[spec::outputs("outputs")]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(1..=d.limits.max_rank)?;
        let spelled = d.axis(x.rank())?;
        let first = rule::axis(spelled, x.rank()).ok()?;
        draw_scale(d, &x, first)?;
        if d.chance(0.6) {
            draw_scale(d, &x, first)?;
        }
        let stash = d.stage();
        let outputs = if d.limits.dtypes.contains(stash) { d.choose(&[1, 1, 1, 1, 2, 3])? } else { 1 };
        Some(LayerNorm { axis: spelled, epsilon: draw_epsilon(d), stash, outputs })
    }
}

/// The scale or the bias: an element for each of a lane, or a single one. The prose says that others broadcast too,
/// but the function body flattens the operand and X first, after which they do not.
fn draw_scale<'a>(d: &mut Draw<'_, 'a>, x: &Type<Sym<'a>>, first: usize) -> Option<()> {
    let axes = &x.shape[first..];
    let shape: Vec<Option<Sym<'a>>> = if d.chance(0.85) {
        axes.iter().map(|&size| Some(size)).collect()
    } else {
        vec![Some(1.into()); d.int(0, axes.len() as i64) as usize]
    };
    d.matching(x.dtype, &shape).map(|_| ())
}

impl<D: Dim> TypeRule<D> for LayerNorm {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (data, scale) = (x.need(0)?, x.need(1)?);
        let axis = rule::axis(self.axis, data.rank())?;
        some_elements(r, &data.shape[axis..])?;
        for parameter in [Some(scale), x.opt(2)].into_iter().flatten() {
            rule::same_dtype(&[data, parameter])?;
            rule::broadcast_to(r, &parameter.shape, &data.shape)?;
        }
        let mut kept = data.shape.clone();
        kept[axis..].fill(D::from(1));
        let mut outputs = vec![data.clone()];
        outputs.resize(self.outputs.clamp(1, 3) as usize, Type::new(self.stash, kept));
        Ok(outputs)
    }
}

impl Operator for LayerNorm {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        Facts::calculates(Cost::PerOutput(7), standardized_apart(x, self.axis), None, edges(x, self.stash))
    }

    /// The mean of a lane without elements is no number.
    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let axis = |x: &Type| rule::accepted(rule::axis(self.axis, x.rank()));
        let is_undefined = self.outputs > 1 && x[0].is_some_and(|x| x.shape[axis(x)..].contains(&0));
        is_undefined.then_some(Hazard::Always).into_iter().collect()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, x) = (c.arith, c.real(0));
        let axes: Vec<usize> = (c.axis(self.axis)..x.ndim()).collect();
        let first_stage = a.within(self.stash);
        let (mut means, mut inverses, mut normalized) = (Vec::new(), Vec::new(), Vec::new());
        for lane in Lanes::new(x, &axes).iter() {
            let lane = standardize(&first_stage, &staged(a, self.stash, c.dtype(0), lane), self.epsilon);
            means.push(lane.mean);
            inverses.push(lane.inverse);
            normalized.extend(lane.elements.into_iter().map(|n| a.round(n)));
        }
        let mut y = lanes::array(x.shape(), normalized);
        let expect = "the type rule makes the parameters broadcast";
        y.zip_mut_with(&c.real(1).broadcast(x.shape()).expect(expect), |y, &scale| *y = a.mul(*y, scale));
        if let Some(bias) = c.opt_real(2) {
            y.zip_mut_with(&bias.broadcast(x.shape()).expect(expect), |y, &bias| *y = a.add(*y, bias));
        }
        let saved = c.outputs[1..].iter().zip([means, inverses]);
        std::iter::once(y)
            .chain(saved.map(|(ty, items)| lanes::array(&ty.extents(), items)))
            .map(Data::Real)
            .collect()
    }
}

#[cfg(test)]
tables! {
    lanes_are_standardised_scaled_and_shifted: "
        x = f32[2, 1, 2] {1, 3, -5, 5}; scale = f32[2] {1, 10}; bias = f32[] {2}
        y = f32[2, 1, 2] {1, 12, 1, 12}; mean = f32[2, 1, 1] {2, 0}; inverse = f32[2, 1, 1] {1, 0.2}
        LayerNormalization(x, scale, bias) {epsilon = 0.0, outputs = 3, axis = -2} = y, mean, inverse
    ";
    what_the_first_stage_saves_has_its_dtype: "
        LayerNormalization(f16[1, 2], f16[1, 2]): f16[1, 2]
        LayerNormalization(f16[1, 2], f16[1, 2]) {outputs = 2, stash_type = 16}: f16[1, 2], bf16[1, 1]
        LayerNormalization(f16[1, 2], f16[2, 2]) is refused
    ";
    of_a_lane_without_elements_there_is_no_mean: "
        LayerNormalization(f32[2, 0], f32[0]): f32[2, 0]
        LayerNormalization(f32[2, 0], f32[0]) has the hazards []
        LayerNormalization(f32[2, 0], f32[0]) {outputs = 2} = f32[2, 0], f32[2, 1] {nan, nan}
        LayerNormalization(f32[2, 0], f32[0]) {outputs = 2} has the hazards [Always]
    ";
}
