//! The placers, one per file. To add a placer, add a file here and a line in `placers!`.

/// Declares the modules of the placers, and lists the placers.
macro_rules! placers {
    ($($module:ident::$placer:ident)*) => {
        $(
            mod $module;
            pub use $module::$placer;
        )*

        /// Every placer; the first is the default.
        pub const ALL: &[&dyn Placer] = &[$(&$placer),*];
    };
}

placers! {
    consolidate::Consolidate
    consolidate_first::ConsolidateFirst
    random::Random
}

use super::free::FreeGpus;
use super::placer::Placer;
use gleaner_domain::results::schedule::Placement;

/// Spreads a job over nodes in the given order. Takes all free GPUs of each node until the job has enough. Returns
/// `None` if too few GPUs are free.
fn spread(free: &FreeGpus, gpus: u32, slots: impl Iterator<Item = u32>) -> Option<Placement> {
    let mut placement = Placement::new();
    let mut missing = gpus;
    for slot in slots {
        let taken = missing.min(free.on(slot));
        placement.push((slot, free.lowest(slot, taken)));
        missing -= taken;
        if missing == 0 {
            return Some(placement);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five nodes with 4 GPUs each, of which 1, 4, 3, 4 and 0 are free.
    fn free() -> FreeGpus {
        let mut free = FreeGpus::new(5, 4);
        free.take(&vec![(0, 0b0111), (2, 0b0001), (4, 0b1111)]);
        free
    }

    // Small fixed examples: the placements of jobs with 1 to 12 GPUs.
    #[test]
    fn consolidate_fits_tightest_and_never_splits_a_node() {
        let place = |gpus| Consolidate.place(&free(), gpus);
        assert_eq!(place(1), Some(vec![(0, 0b1000)]));
        assert_eq!(place(2), Some(vec![(2, 0b0110)]));
        assert_eq!(place(4), Some(vec![(1, 0b1111)]));
        assert_eq!(place(8), Some(vec![(1, 0b1111), (3, 0b1111)]));
        assert_eq!(place(7), Some(vec![(1, 0b1111), (3, 0b0111)]));
        assert_eq!(place(11), Some(vec![(1, 0b1111), (3, 0b1111), (2, 0b1110)]));
        assert_eq!(place(12), None);
    }

    #[test]
    fn consolidate_first_spreads_jobs_that_do_not_fit() {
        let place = |gpus| ConsolidateFirst.place(&free(), gpus);
        assert_eq!(place(2), Some(vec![(2, 0b0110)]));
        let spread = vec![(1, 0b1111), (3, 0b1111), (2, 0b1110), (0, 0b1000)];
        assert_eq!(place(12), Some(spread));
        assert_eq!(place(13), None);
    }

    #[test]
    fn random_takes_the_first_free_gpus() {
        let place = |gpus| Random.place(&free(), gpus);
        assert_eq!(place(1), Some(vec![(0, 0b1000)]));
        assert_eq!(place(3), Some(vec![(0, 0b1000), (1, 0b0011)]));
        assert_eq!(place(13), None);
    }
}
