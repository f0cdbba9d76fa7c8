//! Any bytes on the line between a robot and a gate. Nothing may panic; a message that is heard is
//! heard again from its own frame; and whatever was on the line before, the next whole frame is
//! heard, once.
#![no_main]

use hambo_core::link::device::DeviceMessage;
use hambo_core::link::drive::{DriveMessage, RobotMessage};
use hambo_core::link::frame::{FrameReader, encode};
use libfuzzer_sys::fuzz_target;
use serde::{Serialize, de::DeserializeOwned};

fuzz_target!(|bytes: &[u8]| {
    heard::<RobotMessage>(bytes);
    heard::<DriveMessage>(bytes);
    heard::<DeviceMessage>(bytes);
    behind::<RobotMessage>(bytes);
    behind::<DriveMessage>(bytes);
    let _ = DeviceMessage::from_frame(&mut bytes.to_vec());
});

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Vec<T> {
    let mut reader = FrameReader::default();
    bytes.iter().filter_map(|byte| reader.push(*byte)).collect()
}

/// A message as bytes: numbers that are none compare as what they are.
fn written(message: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(message).unwrap_or_else(|error| panic!("{error}"))
}

/// What is heard of the bytes as they are.
fn heard<T: Serialize + DeserializeOwned>(bytes: &[u8]) {
    for message in read::<T>(bytes) {
        // One that was heard fits into a frame.
        let frame = encode(&message).unwrap_or_else(|| panic!("too long"));
        let again = read::<T>(&frame);
        assert_eq!(again.len(), 1);
        assert_eq!(written(&again[0]), written(&message));
    }
}

/// The bytes are a message and, behind it, what was on the line before its frame.
fn behind<T: Serialize + DeserializeOwned>(bytes: &[u8]) {
    let Ok((message, noise)) = postcard::take_from_bytes::<T>(bytes) else {
        return;
    };
    let Some(frame) = encode(&message) else {
        return;
    };
    let before = read::<T>(noise).len();
    let mut line = noise.to_vec();
    line.extend(&frame);
    let all = read::<T>(&line);
    // The noise may end within a frame, which the zero at the beginning of the next one ends.
    assert!(all.len() == before + 1 || all.len() == before + 2);
    assert_eq!(all.last().map(written), Some(written(&message)));
    // A frame of which one byte is another one is not heard as the message.
    for place in [1, frame.len() / 2, frame.len() - 2] {
        let mut damaged = frame.clone();
        damaged[place] ^= 0x10;
        let heard = read::<T>(&damaged);
        assert!(heard.is_empty(), "byte {place} of {}", frame.len());
    }
}
