//! Writing parts, images and model files, and reading them back into aligned
//! memory. The formats themselves are the core's.

mod act;
mod adversary;
mod aligned;
mod bundle;
mod encode;
mod floor;
mod part;
mod policy;

pub use act::actions;
pub use adversary::{
    Adversaries, FoundAdversary, TrainedAdversary, encode_adversary, encode_found,
};
pub use aligned::AlignedBytes;
pub use bundle::name;
pub use bundle::{BundleAbout, encode_bundle};
pub use encode::{
    Gap, LoggedRegion, NoisePools, Uncertainty, WidthRegion, encode_image, encode_image_with,
    encode_model,
};
pub use floor::{encode_floor, floor_of_trust};
pub use part::{ArenaWriter, EncodeError, encode_part, limited, small};
pub use policy::{decode_policy, encode_policy};
