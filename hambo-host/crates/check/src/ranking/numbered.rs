//! One of several pieces of work, as the observer of all of them sees it.

use std::ops::ControlFlow;

use hambo_base::observer::{Observer, Progress};

/// Says with every report which piece it is about, and a sentence that several pieces share once.
pub(super) struct Numbered<'o> {
    observer: &'o mut dyn Observer,
    piece: String,
    said: Vec<String>,
}

impl<'o> Numbered<'o> {
    pub fn new(observer: &'o mut dyn Observer) -> Self {
        Self {
            observer,
            piece: String::new(),
            said: Vec::new(),
        }
    }

    /// The next piece begins.
    pub fn begin(&mut self, piece: String) {
        self.piece = piece;
    }
}

impl Observer for Numbered<'_> {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        if !self.observer.reads() {
            return self.observer.progress(progress);
        }
        let message = format!("{}: {}", self.piece, progress.message);
        self.observer.progress(Progress {
            message,
            ..progress
        })
    }

    fn note(&mut self, sentence: &str) {
        if !self.said.iter().any(|said| said == sentence) {
            self.said.push(sentence.to_owned());
            self.observer.note(sentence);
        }
    }

    fn reads(&self) -> bool {
        self.observer.reads()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Heard(Vec<String>);

    impl Observer for Heard {
        fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
            self.0.push(progress.message);
            ControlFlow::Break(())
        }

        fn note(&mut self, sentence: &str) {
            self.0.push(sentence.to_owned());
        }

        fn reads(&self) -> bool {
            true
        }
    }

    #[test]
    fn pieces_are_named_and_notes_are_said_once() {
        let mut heard = Heard::default();
        let mut numbered = Numbered::new(&mut heard);
        for piece in ["1 of 2", "2 of 2"] {
            numbered.begin(piece.to_owned());
            numbered.note("16 are searched");
            let progress = Progress {
                done: 0,
                planned: 1,
                message: "search".to_owned(),
            };
            // Who wants an end gets it.
            assert!(numbered.progress(progress).is_break());
        }
        let all = ["16 are searched", "1 of 2: search", "2 of 2: search"];
        assert_eq!(heard.0, all);
    }
}
