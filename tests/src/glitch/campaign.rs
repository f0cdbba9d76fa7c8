//! The campaign: every glitch that a firmware is put through, found from its ELF file and its
//! own undisturbed runs.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::aim::Aim;
use super::attack::{Change, Glitch, Moment};
use super::codes::{self, Compared};
use super::images::{VERDICTS, Verdict, weight};
use super::timeline::Timeline;
use super::victim::{Bench, Seen, Victim};
use crate::fixture::Draw;

/// Moments inside the hash at which an instruction is skipped.
pub const HASH_MOMENTS: usize = 200;
/// Moments at which flash is rewritten, for each of two images.
pub const FLASH_MOMENTS: usize = 200;
/// Flipped bits of RAM.
pub const RAM_FLIPS: usize = 2000;

/// Functions by which the parts of a firmware are found: patterns of symbols, whose parts stand
/// between stars. `HAMBO_DECIDE`, `HAMBO_HASH`, `HAMBO_RUN`, `HAMBO_RETURNS` and `HAMBO_STATICS`
/// replace them, with commas between patterns.
#[derive(Clone, Debug)]
pub struct Names {
    /// The decision begins with the first of these.
    pub decide: Vec<String>,
    /// The hash of an image.
    pub hash: Vec<String>,
    /// From the image in flash to the outcome; the run is disturbed from here on.
    pub run: Vec<String>,
    /// Functions that return a decision, if no static holds it.
    pub returns: Vec<String>,
    /// Statics that hold a decision.
    pub statics: Vec<String>,
}

impl Names {
    /// Those of the environment, or this firmware's.
    #[must_use]
    pub fn from_environment() -> Self {
        let of = |variable: &str, usual: &str| {
            let list = std::env::var(variable).unwrap_or_else(|_| usual.to_owned());
            list.split(',').map(str::to_owned).collect()
        };
        Self {
            decide: of(
                "HAMBO_DECIDE",
                "Assessment*7outcome17h,Assessment*10outcome_of17h,6decide17h,7Outcome*3new17h",
            ),
            hash: of("HAMBO_HASH", "checksum,sha2*compress,sha256,crc*digest"),
            run: of("HAMBO_RUN", "hambo_gate*4gate*3run17h"),
            statics: of("HAMBO_STATICS", "HAMBO_DECISION"),
            returns: of(
                "HAMBO_RETURNS",
                "hambo_gate*4gate*3run17h,Check*7advance17h,Assessment*10outcome_of17h",
            ),
        }
    }
}

/// The parts of the campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An undisturbed run.
    Control,
    /// The first execution of an instruction between decision and pin is skipped.
    SkipFirst,
    /// The last execution, if it is another one.
    SkipLast,
    /// An instruction inside the hash is skipped.
    SkipHash,
    /// The decision has another code in memory.
    Code,
    /// Flash is rewritten.
    Flash,
    /// A bit of RAM is flipped.
    Ram,
    /// The refusal of an image has another code in memory.
    Refusal,
}

/// All parts, in the order of the cells.
pub const PARTS: [Part; 8] = [
    Part::Control,
    Part::SkipFirst,
    Part::SkipLast,
    Part::SkipHash,
    Part::Code,
    Part::Flash,
    Part::Ram,
    Part::Refusal,
];

impl Part {
    /// As the rows call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::SkipFirst => "skip first",
            Self::SkipLast => "skip last",
            Self::SkipHash => "skip in hash",
            Self::Code => "code",
            Self::Flash => "flash",
            Self::Ram => "ram",
            Self::Refusal => "refusal",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Experiment {
    /// The part that it belongs to.
    pub part: Part,
    /// The image's verdict.
    pub verdict: Verdict,
    /// What is done.
    pub glitch: Glitch,
}

/// An image on the bench.
pub struct Target {
    /// What it is without a glitch.
    pub verdict: Verdict,
    pub file: PathBuf,
    /// Its undisturbed run.
    pub timeline: Timeline,
    /// What is seen of that.
    pub seen: Seen,
}

/// A firmware, its images and all experiments.
pub struct Campaign {
    /// The firmware.
    pub bench: Bench,
    /// The images, in the order of [`VERDICTS`].
    pub targets: Vec<Target>,
    /// The experiments; those of a part lie side by side.
    pub experiments: Vec<Experiment>,
}

impl Campaign {
    /// Records the undisturbed runs and plans all experiments. The images are kept in `folder`.
    ///
    /// # Errors
    /// If the firmware lacks a function that must be found, or the emulator fails.
    pub fn new(firmware: &Path, folder: &Path, names: &Names) -> io::Result<Self> {
        let mut planner = Planner::new(Bench::new(firmware)?, names)?;
        let mut targets = Vec::new();
        for verdict in VERDICTS {
            targets.push(planner.target(folder, verdict)?);
        }
        let experiments = planner.experiments(&targets)?;
        Ok(Self {
            bench: planner.without_other_calls(),
            targets,
            experiments,
        })
    }

    /// The image of a verdict.
    #[must_use]
    pub fn target(&self, verdict: Verdict) -> Option<&Target> {
        self.targets.iter().find(|one| one.verdict == verdict)
    }
}

/// What the plan of a firmware is made from.
struct Planner<'n> {
    bench: Bench,
    names: &'n Names,
    /// The first instruction of the function that is disturbed.
    run: u32,
    victims: Vec<Victim>,
}

impl<'n> Planner<'n> {
    fn new(bench: Bench, names: &'n Names) -> io::Result<Self> {
        let run = symbols(&bench, &names.run).next();
        let run = run.ok_or_else(|| io::Error::other("no function of HAMBO_RUN"))?;
        Ok(Self {
            bench,
            names,
            run,
            victims: Vec::new(),
        })
    }

    fn target(&mut self, folder: &Path, verdict: Verdict) -> io::Result<Target> {
        let file = folder.join(format!("{}.hmb", verdict.name()));
        let flash = verdict.flash(self.bench.floor_start.is_some());
        let flash = flash.map_err(io::Error::other)?;
        fs::write(&file, flash.bytes)?;
        fs::write(file.with_extension("floor"), flash.floor)?;
        let timeline = Timeline::record(&self.bench, &file, self.run)?;
        let mut victim = self.bench.victim(&file)?;
        let start = self.start(&timeline);
        let glitch = Glitch {
            moment: Moment::Before(start),
            change: Change::Nothing,
        };
        let (_, seen) = glitch.on(&mut victim, &timeline)?;
        self.victims.push(victim);
        if seen.verdict != verdict.name() || seen.pin != (verdict == Verdict::Deploy) {
            let text = format!("{} ends as {seen:?}", verdict.name());
            return Err(io::Error::other(text));
        }
        Ok(Target {
            verdict,
            file,
            timeline,
            seen,
        })
    }

    /// The first moment of a run that is disturbed.
    fn start(&self, timeline: &Timeline) -> usize {
        timeline.first(self.run, 0..usize::MAX).unwrap_or(0)
    }

    /// The first moment of the decision; of an image that is refused the first of all.
    fn decision(&self, timeline: &Timeline) -> usize {
        let start = self.start(timeline);
        let found = symbols(&self.bench, &self.names.decide);
        let found = found.filter_map(|address| timeline.first(address, start..usize::MAX));
        found.min().unwrap_or(start)
    }

    fn experiments(&mut self, targets: &[Target]) -> io::Result<Vec<Experiment>> {
        let mut found = Vec::new();
        for part in PARTS {
            match part {
                Part::Code => {
                    found.extend(experiments(part, Verdict::Reject, self.codes(targets)?));
                }
                Part::Ram => found.extend(experiments(part, Verdict::Reject, self.ram(targets)?)),
                Part::Refusal => {
                    found.extend(experiments(part, Verdict::Refused, self.refusal(targets)?));
                }
                _ => {
                    for target in targets {
                        let glitches = self.glitches(part, target);
                        found.extend(experiments(part, target.verdict, glitches));
                    }
                }
            }
        }
        Ok(found)
    }

    /// The glitches of a part but those that compare images.
    fn glitches(&self, part: Part, target: &Target) -> Vec<Glitch> {
        let timeline = &target.timeline;
        let (start, end) = (self.start(timeline), timeline.addresses.len());
        let skips = |moments: Vec<usize>| -> Vec<Glitch> {
            let skip = |number| Glitch {
                moment: Moment::Before(number),
                change: Change::Skip,
            };
            moments.into_iter().map(skip).collect()
        };
        let attacked = target.verdict != Verdict::Deploy;
        match part {
            Part::Control => vec![Glitch {
                moment: Moment::Before(start),
                change: Change::Nothing,
            }],
            Part::SkipFirst | Part::SkipLast if attacked => {
                let visited = timeline.visited(self.decision(timeline)..end);
                let outside = visited.iter().filter(|(at, _)| !self.is_hash(*at));
                skips(match part {
                    Part::SkipFirst => outside.map(|(_, [first, _])| *first).collect(),
                    _ => {
                        let others = outside.filter(|(_, [first, last])| first != last);
                        let mut last: Vec<usize> = others.map(|(_, numbers)| numbers[1]).collect();
                        last.sort_unstable();
                        last
                    }
                })
            }
            Part::SkipHash if attacked => {
                let decision = self.decision(timeline);
                let hashed = (decision..end).filter(|at| self.is_hash(timeline.addresses[*at]));
                let hashed: Vec<usize> = hashed.collect();
                let draw = &mut Draw::new(0x6A5);
                let wanted = hashed.len().min(HASH_MOMENTS);
                let mut moments = BTreeSet::new();
                while moments.len() < wanted {
                    moments.insert(hashed[draw.below(hashed.len())]);
                }
                skips(moments.into_iter().collect())
            }
            Part::Flash => self.flash(target),
            _ => Vec::new(),
        }
    }

    /// Rewrites of flash: of the reject one that makes its model far more certain, so that the
    /// bound would reach the threshold; of the deploy any bit, before the decision.
    fn flash(&self, target: &Target) -> Vec<Glitch> {
        let timeline = &target.timeline;
        let Ok(image) = fs::read(&target.file) else {
            return Vec::new();
        };
        let start = self.start(timeline);
        let draw = &mut Draw::new(0xF1A5);
        let offset = 0.1_f32.to_le_bytes();
        let place = image.chunks_exact(4).position(|chunk| *chunk == offset);
        let (Some(place), Some(weight)) = (place, weight(&image)) else {
            return Vec::new();
        };
        let end = match target.verdict {
            Verdict::Deploy => self.decision(timeline),
            Verdict::Reject => timeline.addresses.len(),
            Verdict::Abstain | Verdict::Refused => return Vec::new(),
        };
        let mut glitches: Vec<Glitch> = (0..FLASH_MOMENTS)
            .map(|number| Glitch {
                moment: Moment::Before(timeline.easy(start + draw.below(end - start))),
                change: match target.verdict {
                    Verdict::Reject => Change::Write {
                        address: self.bench.model_start + 4 * place as u32,
                        bytes: (-0.05_f32).to_le_bytes().to_vec(),
                    },
                    // Every fourth time the sign of a weight, which the check would notice.
                    _ if number % 4 == 0 => Change::Flip {
                        address: self.bench.model_start + weight as u32 + 3,
                        bit: 7,
                    },
                    _ => Change::Flip {
                        address: self.bench.model_start + draw.below(image.len()) as u32,
                        bit: draw.below(8) as u8,
                    },
                },
            })
            .collect();
        glitches.sort_by_key(|glitch| glitch.moment);
        glitches
    }

    /// Flips of RAM: before the decision of what the check writes; from there on of that and, as
    /// often, of what differs from a deploy; one in ten in statics.
    fn ram(&mut self, targets: &[Target]) -> io::Result<Vec<Glitch>> {
        let (deploy, reject) = (&targets[0].timeline, &targets[1].timeline);
        let decision = self.decision(reject);
        let [first, second, ..] = self.victims.as_mut_slice() else {
            return Ok(Vec::new());
        };
        let runs = [(first, deploy), (second, reject)];
        let aim = Aim::new(&self.bench.program, runs, (self.run, decision))?;
        let (start, end) = (self.start(reject), reject.addresses.len());
        let draw = &mut Draw::new(0x2A4);
        let mut glitches: Vec<Glitch> = (0..RAM_FLIPS)
            .map(|number| {
                let moment = match number % 2 {
                    0 => start + draw.below(decision - start),
                    _ => decision + draw.below(end - decision),
                };
                let among = match (number % 10, number % 4) {
                    (9, _) => &aim.statics,
                    (_, 1) => &aim.outcome,
                    _ => &aim.written,
                };
                let change = Change::FlipOne {
                    choice: draw.below(1 << 24) as u32,
                    among: among.clone(),
                };
                let moment = Moment::Before(reject.easy(moment));
                Glitch { moment, change }
            })
            .collect();
        glitches.sort_by_key(|glitch| glitch.moment);
        Ok(glitches)
    }

    /// Every code of the decision of the reject.
    fn codes(&mut self, targets: &[Target]) -> io::Result<Vec<Glitch>> {
        let decision = self.decision(&targets[1].timeline);
        let mut victims = self.victims.iter_mut().zip(targets);
        let runs = std::array::from_fn(|_| victims.next());
        let [Some(deploy), Some(reject), Some(abstain)] = runs else {
            return Ok(Vec::new());
        };
        let mut runs = [deploy, reject, abstain].map(|(victim, target)| Compared {
            victim,
            timeline: &target.timeline,
        });
        let names = self.names.statics.iter();
        let statics = names.flat_map(|name| self.bench.program.matching(name));
        let statics: Vec<_> = statics.collect();
        let mut found = Vec::new();
        for symbol in &statics {
            found.extend(codes::in_static(&mut runs, decision, symbol)?);
        }
        if statics.is_empty() {
            for function in symbols(&self.bench, &self.names.returns) {
                for glitch in codes::in_returned(&mut runs, function)? {
                    // One function may return what another one did.
                    if !found.contains(&glitch) {
                        found.push(glitch);
                    }
                }
            }
        }
        Ok(found)
    }

    /// Every code of a refusal.
    fn refusal(&mut self, targets: &[Target]) -> io::Result<Vec<Glitch>> {
        let [deploy, .., refused] = self.victims.as_mut_slice() else {
            return Ok(Vec::new());
        };
        let mut deploy = Compared {
            victim: deploy,
            timeline: &targets[0].timeline,
        };
        let mut refused = Compared {
            victim: refused,
            timeline: &targets[3].timeline,
        };
        codes::of_refusal(&mut deploy, &mut refused, self.run)
    }

    /// The bench without the calls of the host that only log: a stop at each would take most
    /// of the time. Should a glitch end the run there, the emulator ends with it and is seen to
    /// have died.
    fn without_other_calls(mut self) -> Bench {
        let exits = self.victims.iter().flat_map(|victim| &victim.exit_calls);
        let exits: BTreeSet<u32> = exits.copied().collect();
        for victim in &self.victims {
            for call in victim.other_calls.difference(&exits) {
                self.bench.host_calls.remove(call);
            }
        }
        self.bench
    }

    fn is_hash(&self, address: u32) -> bool {
        let symbol = self.bench.program.symbol_at(address);
        symbol.is_some_and(|symbol| {
            let mut patterns = self.names.hash.iter();
            patterns.any(|pattern| pattern.split('*').all(|part| symbol.name.contains(part)))
        })
    }
}

fn experiments(
    part: Part,
    verdict: Verdict,
    glitches: Vec<Glitch>,
) -> impl Iterator<Item = Experiment> {
    glitches.into_iter().map(move |glitch| Experiment {
        part,
        verdict,
        glitch,
    })
}

/// The addresses of the functions that any of the patterns fits.
fn symbols<'p>(bench: &'p Bench, patterns: &'p [String]) -> impl Iterator<Item = u32> + 'p {
    let all = patterns
        .iter()
        .flat_map(|name| bench.program.matching(name));
    all.map(|symbol| symbol.address)
}
