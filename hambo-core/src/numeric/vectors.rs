//! Which instructions a kernel is compiled for, picked at run time.
//!
//! A kernel is written once, for any number of lanes at a time. With the
//! feature `host-simd` it is compiled once for each instruction set below and
//! the widest that the processor has runs; without, and on the device, there
//! is only the plain one. All give the same bits: vectors only put more lanes
//! side by side, and nothing is fused, whatever the processor could do.

/// A loop over lanes that are computed a group at a time.
pub(crate) trait LaneLoop {
    type Output;

    /// Does the work, `GROUP` lanes at a time where there are more: sums of
    /// more lanes would not fit the registers. It must be inlined, and all
    /// that it calls, to be compiled for the instruction set.
    fn run<const GROUP: usize>(self) -> Self::Output;
}

/// The group of a kernel without vectors, for the registers of any processor.
pub(super) const PLAIN: usize = 8;

/// An instruction set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Vectors {
    /// What the program was compiled for.
    Plain,
    #[cfg(all(feature = "host-simd", target_arch = "x86_64"))]
    Avx2(pulp::x86::V3),
    #[cfg(all(feature = "host-simd", target_arch = "x86_64"))]
    Avx512(pulp::x86::V4),
}

impl Vectors {
    /// The widest vectors of this processor, which is asked only once.
    #[inline(always)]
    pub(crate) fn widest() -> Self {
        #[cfg(all(feature = "host-simd", target_arch = "x86_64"))]
        {
            if let Some(avx512) = pulp::x86::V4::try_new() {
                return Self::Avx512(avx512);
            }
            if let Some(avx2) = pulp::x86::V3::try_new() {
                return Self::Avx2(avx2);
            }
        }
        Self::Plain
    }

    #[cfg(test)]
    pub(super) fn available() -> Vec<Self> {
        #[allow(unused_mut, reason = "without the feature nothing follows")]
        let mut all = vec![Self::Plain];
        #[cfg(all(feature = "host-simd", target_arch = "x86_64"))]
        {
            all.extend(pulp::x86::V3::try_new().map(Self::Avx2));
            all.extend(pulp::x86::V4::try_new().map(Self::Avx512));
        }
        all
    }

    /// Runs the kernel with these instructions, its groups such that the sums
    /// of a tile take eight registers.
    #[inline(always)]
    pub(crate) fn run<K: LaneLoop>(self, kernel: K) -> K::Output {
        match self {
            Self::Plain => kernel.run::<PLAIN>(),
            #[cfg(all(feature = "host-simd", target_arch = "x86_64"))]
            Self::Avx2(avx2) => avx2.vectorize(Inlined::<_, 16>(kernel)),
            #[cfg(all(feature = "host-simd", target_arch = "x86_64"))]
            Self::Avx512(avx512) => avx512.vectorize(Inlined::<_, 32>(kernel)),
        }
    }
}

/// A kernel with its group; unlike a closure it is sure to be inlined. With
/// `pulp` the one `unsafe` call of a function for other instructions is not
/// ours: its tokens `V3` and `V4` exist only where the processor has them.
#[cfg(all(feature = "host-simd", target_arch = "x86_64"))]
struct Inlined<K, const GROUP: usize>(K);

#[cfg(all(feature = "host-simd", target_arch = "x86_64"))]
impl<K: LaneLoop, const GROUP: usize> pulp::NullaryFnOnce for Inlined<K, GROUP> {
    type Output = K::Output;

    #[inline(always)]
    fn call(self) -> K::Output {
        self.0.run::<GROUP>()
    }
}

/// The lanes of one group of a row, to read.
#[inline(always)]
pub(super) fn lanes<T, const B: usize, const G: usize>(
    row: &[T; B],
    group: usize,
) -> Option<&[T; G]> {
    row.as_chunks().0.get(group)
}

/// The lanes of one group of a row, to write.
#[inline(always)]
pub(super) fn lanes_mut<T, const B: usize, const G: usize>(
    row: &mut [T; B],
    group: usize,
) -> Option<&mut [T; G]> {
    row.as_chunks_mut().0.get_mut(group)
}
