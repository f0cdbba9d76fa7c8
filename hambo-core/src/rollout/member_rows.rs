//! The rows of the discrete adversary: member sequences as integers, carved
//! from the same lent slice as everything else.

/// One row for each step; none if no variant needs them.
pub struct MemberRows<'r, const B: usize> {
    /// The member on trial.
    pub chosen: &'r mut [[u16; B]],
    /// That of the worst sequence so far.
    pub worst: &'r mut [[u16; B]],
    /// The member that the adjoint sweep proposes.
    pub proposed: &'r mut [[u16; B]],
    /// The change of the objective that it promises.
    pub gain: &'r mut [[f32; B]],
}

impl<'r, const B: usize> MemberRows<'r, B> {
    /// How many rows of f32 the rows of `steps` steps take: one for the gain
    /// and three halves for the members.
    pub(super) fn needed(steps: usize) -> Option<usize> {
        steps.checked_mul(3)?.div_ceil(2).checked_add(steps)
    }

    /// Carves the rows of `steps` steps from rows of f32.
    pub(super) fn carve(rows: &'r mut [[f32; B]], steps: usize) -> Option<Self> {
        let (gain, members) = rows.split_at_mut_checked(steps)?;
        let members = bytemuck::try_cast_slice_mut::<f32, u16>(members.as_flattened_mut());
        let (members, _) = members.ok()?.as_chunks_mut();
        let (chosen, members) = members.split_at_mut_checked(steps)?;
        let (worst, members) = members.split_at_mut_checked(steps)?;
        Some(Self {
            chosen,
            worst,
            proposed: members.get_mut(..steps)?,
            gain,
        })
    }

    /// The members on trial at a step; a choice that is not there is a member
    /// that is not there.
    pub(super) fn chosen_at(&self, step: u32) -> [usize; B] {
        let row = usize::try_from(step).ok();
        let row = row.and_then(|step| self.chosen.get(step));
        row.map_or([usize::MAX; B], |row| row.map(usize::from))
    }

    /// Notes the proposals of a step in the marked lanes.
    pub(super) fn propose(
        &mut self,
        step: u32,
        lanes: &[bool; B],
        members: &[usize; B],
        gains: &[f32; B],
    ) -> Option<()> {
        let step = usize::try_from(step).ok()?;
        let rows = self.proposed.get_mut(step)?.iter_mut();
        let rows = rows.zip(self.gain.get_mut(step)?).zip(lanes);
        for (((proposed, gain), marked), (member, by)) in rows.zip(members.iter().zip(gains)) {
            if *marked {
                *proposed = *member as u16;
                *gain = *by;
            }
        }
        Some(())
    }
}
