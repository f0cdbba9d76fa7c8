//! Single members: what the discrete adversary and trajectory sampling use.

use super::moments::Ensemble;
use crate::numeric::Slices;
use crate::numeric::elementary::sigmoid;
use crate::numeric::vectors::{LaneLoop, Vectors};

impl Ensemble<'_> {
    /// See [`crate::model::Dynamics::member_moments`].
    pub(crate) fn member_moments<const B: usize>(
        &self,
        members: &[usize; B],
        scratch: &mut [[f32; B]],
        mean: &mut [[f32; B]],
        std: &mut [[f32; B]],
    ) {
        let outputs = self.networks.outputs_in(scratch).unwrap_or_default();
        Vectors::widest().run(Chosen {
            ensemble: self,
            members,
            outputs,
            mean,
            std,
        });
    }

    /// See [`crate::model::Dynamics::pull_back_members`].
    pub(crate) fn pull_back_members<const B: usize>(
        &self,
        members: &[usize; B],
        (mean, std): (&[[f32; B]], &[[f32; B]]),
        scratch: &mut [[f32; B]],
        cotangents: (&mut [[f32; B]], &mut [[f32; B]]),
        slices: &Slices<'_>,
    ) -> Option<()> {
        let to_cotangents = |outputs: &mut [[f32; B]]| {
            let members_outputs = outputs.chunks_exact_mut(self.output_rows().max(1));
            for (member, own) in members_outputs.enumerate() {
                self.replace_by_cotangent(member, members, (mean, std), own)?;
            }
            Some(())
        };
        self.pull_back_outputs(scratch, to_cotangents, cotangents, slices)
    }

    /// Puts the derivative in one member's outputs in their place: nothing in
    /// the lanes that chose another.
    fn replace_by_cotangent<const B: usize>(
        &self,
        member: usize,
        members: &[usize; B],
        (mean, std): (&[[f32; B]], &[[f32; B]]),
        outputs: &mut [[f32; B]],
    ) -> Option<()> {
        let (mean_rows, raw_rows) = outputs.split_at_mut_checked(self.outputs)?;
        let rows = mean_rows.iter_mut().zip(raw_rows);
        let scales = self.output_scale.iter().zip(self.noise_scale);
        let sources = mean.iter().zip(std).zip(scales);
        for ((mean_row, raw_row), ((c_mean, c_std), (scale, noise))) in rows.zip(sources) {
            let lanes = mean_row.iter_mut().zip(raw_row.iter_mut()).zip(members);
            for (((h, raw), chosen), (c_mean, c_std)) in lanes.zip(c_mean.iter().zip(c_std)) {
                if *chosen == member {
                    *h = *scale * *c_mean;
                    let free = self.member_std(*raw) < self.std_cap;
                    let slope = if free { sigmoid(*raw) } else { 0.0 };
                    *raw = *noise * (*c_std * slope);
                } else {
                    (*h, *raw) = (0.0, 0.0);
                }
            }
        }
        Some(())
    }
}

/// What one member says in each lane.
struct Chosen<'p, 'a, const B: usize> {
    ensemble: &'p Ensemble<'a>,
    members: &'p [usize; B],
    outputs: &'p [[f32; B]],
    mean: &'p mut [[f32; B]],
    std: &'p mut [[f32; B]],
}

impl<const B: usize> LaneLoop for Chosen<'_, '_, B> {
    type Output = ();

    #[inline(always)]
    fn run<const GROUP: usize>(self) {
        let Self {
            ensemble,
            members,
            outputs,
            mean,
            std,
        } = self;
        let units = ensemble.output_mean.iter().zip(ensemble.output_scale);
        let units = units.zip(ensemble.noise_scale);
        let rows = mean.iter_mut().zip(std.iter_mut()).zip(units);
        for (dimension, ((mean, std), ((shift, scale), noise))) in rows.enumerate() {
            *mean = [f32::NAN; B];
            *std = [f32::NAN; B];
            for (member, (means, raws)) in ensemble.heads(outputs, dimension).enumerate() {
                let lanes = mean.iter_mut().zip(std.iter_mut()).zip(members);
                let own = means.iter().zip(raws);
                for (((mean, raw), chosen), (own_mean, own_raw)) in lanes.zip(own) {
                    let is_own = *chosen == member;
                    *mean = if is_own { *own_mean } else { *mean };
                    *raw = if is_own { *own_raw } else { *raw };
                }
            }
            for (mean, raw) in mean.iter_mut().zip(std.iter_mut()) {
                *mean = *shift + *scale * *mean;
                *raw = *noise * ensemble.member_std(*raw);
            }
        }
    }
}
