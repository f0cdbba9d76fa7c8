//! Power fails at every word and every sector, and once more while the robot recovers.

use super::*;

const OLD: u32 = 5;
const NEW: u32 = 6;

/// A robot with an active bundle and what is left of an older one.
fn robot() -> Nor {
    let mut slots = slots(Nor::new(2 * PLACE as usize));
    push(&mut slots, &bundle(3, 2200), OLD - 1).unwrap();
    push(&mut slots, &bundle(1, 1900), OLD).unwrap();
    slots.into_flash()
}

fn new() -> Vec<u8> {
    bundle(2, 2111)
}

/// The update until power fails, or to its end.
fn update(nor: &mut Nor) -> Result<Active, SlotError<nor::Off>> {
    let mut slots = slots(nor.clone());
    let ended = push(&mut slots, &new(), NEW);
    *nor = slots.into_flash();
    ended
}

/// After power failed: the old bundle or the new one, whole.
fn holds(nor: &mut Nor) {
    nor.power(None, 1);
    let (bytes, counter) = found(nor).expect("no bundle is active");
    match counter {
        OLD => assert_eq!(bytes, bundle(1, 1900)),
        NEW => assert_eq!(bytes, new()),
        other => panic!("counter {other}"),
    }
}

/// The update once more, with power: it ends, and so does the one after it.
fn recovers(nor: &mut Nor) {
    nor.power(None, 1);
    update(nor).unwrap();
    assert_eq!(found(nor), Some((new(), NEW)));
    let mut slots = slots(nor.clone());
    push(&mut slots, &bundle(4, 700), NEW + 1).unwrap();
    assert_eq!(found(&slots.into_flash()), Some((bundle(4, 700), NEW + 1)));
}

#[test]
fn power_may_fail_at_every_word_and_sector() {
    let robot = robot();
    let mut whole = robot.clone();
    whole.power(None, 1);
    update(&mut whole).unwrap();
    let changes = whole.changed;
    let (mut cuts, mut kept) = (0, 0);
    for seed in 0..10 {
        for left in 0..changes {
            let mut nor = robot.clone();
            nor.power(Some(left), seed * changes + left);
            assert_eq!(update(&mut nor), Err(SlotError::Flash(nor::Off)));
            holds(&mut nor);
            kept += u32::from(found(&nor).is_some_and(|(_, counter)| counter == OLD));
            recovers(&mut nor);
            cuts += 1;
        }
    }
    // Nearly always the old one is active; after the last word the new one may be.
    assert!(cuts >= 5000 && kept > cuts - 20, "{cuts} {kept}");
}

#[test]
fn power_may_fail_again_while_the_robot_recovers() {
    let robot = robot();
    let mut draws = 1_u64;
    let mut below = |end: u64| {
        draws = draws
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (draws >> 33) % end
    };
    let mut nested = 0;
    while nested < 2500 {
        let mut nor = robot.clone();
        // Two or three times, of a piece of the update each.
        let (first, second, third) = (below(560), below(560), below(560));
        let ended = [first, second, third].into_iter().map(|left| {
            nor.power(Some(left), below(u64::from(u32::MAX)));
            let ended = update(&mut nor).is_ok();
            holds(&mut nor);
            ended
        });
        let ended: Vec<bool> = ended.collect();
        recovers(&mut nor);
        nested += u32::from(ended.iter().filter(|ended| !**ended).count() > 1);
    }
}

/// A push that is cut off goes on where it was, not at the start.
#[test]
fn a_push_is_resumed() {
    let mut nor = robot();
    nor.power(Some(400), 3);
    assert!(update(&mut nor).is_err());
    nor.power(None, 1);
    let bytes = new();
    let mut slots = slots(nor);
    let Ok(Begun::At(offset)) = slots.begin(bytes.len() as u32, hash(&bytes)) else {
        panic!("it does not go on");
    };
    assert!(offset as usize >= 2 * PIECE, "{offset}");
    // Another bundle starts anew.
    let other = bundle(9, 2111);
    let begun = slots.begin(2111, hash(&other));
    assert_eq!(begun, Ok(Begun::At(0)));
}

/// Power fails within the record of the active bundle, again and again, until no record is left.
#[test]
fn records_that_were_cut_off_are_left_alone() {
    let mut nor = robot();
    let mut whole = nor.clone();
    whole.power(None, 1);
    update(&mut whole).unwrap();
    // The first half of a record's words.
    let mut left = whole.changed - 8;
    let mut anew = 0;
    for seed in 0..40 {
        nor.power(Some(left), seed);
        update(&mut nor).unwrap_err();
        holds(&mut nor);
        // From the next start on there is only the record to write, or all of the bundle.
        let bytes = new();
        let begun = slots(nor.clone()).begin(bytes.len() as u32, hash(&bytes));
        let resumed = begun != Ok(Begun::At(0));
        anew += u32::from(!resumed);
        left = if resumed { 8 } else { whole.changed - 8 };
    }
    assert!(anew >= 3, "{anew}");
    recovers(&mut nor);
}

/// The largest counter is kept even if its bundle's bytes are lost.
#[test]
fn a_bundle_that_rots_does_not_bring_back_an_older_one() {
    let mut nor = robot();
    let active = slots(nor.clone()).active().unwrap().unwrap();
    let start = slots(nor.clone()).range(active.slot).start as usize;
    nor.bytes_mut()[start + 100] ^= 4;
    let mut slots = slots(nor);
    assert_eq!(slots.active(), Ok(Some(active)));
    assert_eq!(slots.least_counter(), Ok(u64::from(OLD) + 1));
    let refused = push(&mut slots, &bundle(3, 2200), OLD - 1);
    assert_eq!(
        refused,
        Err(SlotError::Counter {
            least: u64::from(OLD) + 1
        })
    );
}
