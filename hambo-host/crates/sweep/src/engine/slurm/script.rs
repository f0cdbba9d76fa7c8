//! The script of an array job, and the list of its tasks' cells.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use hambo_base::Error;
use hambo_base::files::write_whole;

use crate::plan::sha256;

/// An array job.
pub(super) struct Array<'a> {
    /// Under which its queue entries are found.
    pub name: &'a str,
    /// The program and its words before the cells.
    pub program: Vec<&'a str>,
    /// Processors of a task.
    pub cpus: usize,
    /// The cells of each task.
    pub tasks: &'a [&'a [usize]],
    /// Options of sbatch.
    pub options: &'a [String],
    /// Jobs that must have ended before.
    pub after: &'a [String],
}

/// The name of our jobs: no other folder has the same.
pub(super) fn job_name(name: &str, folder: &Path) -> String {
    let plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_".contains(*letter);
    let name: String = name.chars().filter(plain).take(24).collect();
    let hash = sha256(folder.as_os_str().as_encoded_bytes());
    format!("hambo-{name}-{}", hash.get(..8).unwrap_or_default())
}

impl Array<'_> {
    /// Writes script and list; returns where the script is.
    ///
    /// # Errors
    /// If they cannot be written, or a path cannot stand in a script.
    pub fn write(&self, folder: &Path, name: &str) -> Result<PathBuf, Error> {
        let errors = folder.join("errors");
        std::fs::create_dir_all(&errors)?;
        let list = folder.join(format!("{name}.txt"));
        let mut lines = String::new();
        for cells in self.tasks {
            let cells: Vec<String> = cells.iter().map(usize::to_string).collect();
            lines.push_str(&cells.join(" "));
            lines.push('\n');
        }
        write_whole(&list, lines.as_bytes())?;
        let script = folder.join(format!("{name}.sh"));
        write_whole(&script, self.text(&list, &errors)?.as_bytes())?;
        Ok(script)
    }

    /// The script's text.
    fn text(&self, list: &Path, errors: &Path) -> Result<String, Error> {
        let (list, errors) = (quoted(&utf8(list)?), quoted(&utf8(errors)?));
        let program: Vec<String> = self.program.iter().map(|word| quoted(word)).collect();
        let mut text = format!(
            "#!/bin/sh\n\
             #SBATCH --job-name={}\n\
             #SBATCH --array=0-{}\n\
             #SBATCH --ntasks=1\n\
             #SBATCH --cpus-per-task={}\n\
             #SBATCH --requeue\n\
             #SBATCH --output=/dev/null\n",
            self.name,
            self.tasks.len().saturating_sub(1),
            self.cpus
        );
        if !self.after.is_empty() {
            let _ = writeln!(
                text,
                "#SBATCH --dependency=afterany:{}",
                self.after.join(":")
            );
        }
        for option in self.options {
            if option.contains(['\n', '\r']) {
                let text = "--sbatch: an option of sbatch stands in one line".to_owned();
                return Err(Error::Usage(text));
            }
            let _ = writeln!(text, "#SBATCH {option}");
        }
        let _ = write!(
            text,
            "# The cells of this task: a line of the list.\n\
             cells=$(sed -n \"$((SLURM_ARRAY_TASK_ID + 1))p\" {list})\n\
             [ -n \"$cells\" ] || exit 1\n\
             errors={errors}/${{cells%% *}}.txt\n\
             # shellcheck disable=SC2086\n\
             {} $cells 2> \"$errors\" || exit\n\
             rm -f \"$errors\"\n",
            program.join(" ")
        );
        Ok(text)
    }
}

fn utf8(path: &Path) -> Result<String, Error> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        Error::Usage(format!(
            "{}: this path is not UTF-8, as a script needs it\nhelp: rename it",
            path.display()
        ))
    })
}

/// A word that a shell does not split.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_script_names_its_limits_its_list_and_what_it_waits_for() {
        let tasks: [&[usize]; 2] = [&[7, 8], &[9]];
        let (options, after) = (
            vec!["--time=5".to_owned()],
            vec!["3".to_owned(), "4".to_owned()],
        );
        let array = Array {
            name: "hambo-x-01",
            program: vec!["/opt/it's/hambo", "sweep"],
            cpus: 2,
            tasks: &tasks,
            options: &options,
            after: &after,
        };
        let text = array
            .text(Path::new("/s/list.txt"), Path::new("/s/errors"))
            .unwrap();
        for line in [
            "#SBATCH --array=0-1",
            "#SBATCH --cpus-per-task=2",
            "#SBATCH --dependency=afterany:3:4",
            "#SBATCH --time=5",
            r"'/opt/it'\''s/hambo' 'sweep' $cells",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        let split = vec!["--time=5\nrm -r /".to_owned()];
        let array = Array {
            options: &split,
            ..array
        };
        assert!(array.text(Path::new("/l"), Path::new("/e")).is_err());
    }

    #[test]
    fn a_name_is_that_of_its_folder() {
        let one = job_name("my sweep/1", Path::new("/a"));
        assert!(one.starts_with("hambo-mysweep1-"), "{one}");
        assert_ne!(one, job_name("my sweep/1", Path::new("/b")));
    }
}
