//! `hambo export`: a device image with its budget, refused if it does not fit.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use hambo_core::image::Image;
use hambo_core::rollout::Buffers;
use hambo_core::task::Effort;
use hambo_host::Error;
use hambo_host::data::read_log;
use hambo_host::device::Qemu;
use hambo_host::files::write_whole;
use hambo_host::image_file::{AlignedBytes, encode_image, encode_policy};
use hambo_host::model_file::ModelFile;
use hambo_host::policy_file::HostPolicy;
use hambo_host::task_file::{Initial, TaskFile};

use super::board::Board;

/// What `hambo export` takes.
#[derive(Args)]
pub struct ExportArguments {
    /// The model file.
    model: PathBuf,
    /// The task file.
    #[arg(long)]
    task: PathBuf,
    /// The policy file.
    #[arg(long)]
    policy: PathBuf,
    /// The board.
    #[arg(long, default_value = "stm32f405")]
    board: String,
    /// The image to write.
    #[arg(short, long)]
    output: PathBuf,
    /// The log: its first states, for a task that starts from its data, and
    /// the scale of the task's comparisons for the adversary's search.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Trajectories of a check.
    #[arg(long, default_value_t = 16)]
    trajectories: u32,
    /// Sweeps of the adversary's search.
    #[arg(long, default_value_t = 12)]
    sweeps: u32,
    /// Seed of the check.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The firmware's ELF file: runs the image once under QEMU, so that
    /// instructions and stack are measured.
    #[arg(long)]
    firmware: Option<PathBuf>,
    /// One JSON object instead of the table.
    #[arg(long)]
    json: bool,
}

/// Lanes of the firmware.
const DEVICE_LANES: usize = 4;

/// Writes the image and tells what it takes.
///
/// # Errors
/// If an input is bad or the image does not fit the board; then nothing is
/// written.
pub fn run(arguments: &ExportArguments, out: &mut impl Write) -> Result<(), Error> {
    let board = Board::named(&arguments.board)?;
    let mut task = TaskFile::read(&arguments.task)?;
    let model = ModelFile::read(&arguments.model)?;
    let policy = HostPolicy::read(&arguments.policy, &task)?;
    let initial = arguments.initial_states(&mut task)?;
    let effort = Effort {
        trajectories: arguments.trajectories,
        iterations: arguments.sweeps,
        seed: arguments.seed,
    };
    let policy = encode_policy(&policy)?;
    let bytes = encode_image(model.model_part(), &task, effort, &initial, &policy)?;
    let aligned = AlignedBytes::new(&bytes);
    let image = Image::parse(aligned.as_bytes())?;
    let rows =
        Buffers::<DEVICE_LANES>::rows_needed(&image.model.dynamics, &image.task, &image.policy)?;
    let ram = rows * DEVICE_LANES * size_of::<f32>();
    for (what, needed, available, help) in [
        (
            "flash",
            bytes.len(),
            board.image_bytes,
            "train a smaller model: hambo fit --board",
        ),
        (
            "memory",
            ram,
            board.workspace_bytes,
            "shorten the horizon or train a smaller model",
        ),
    ] {
        if needed > available {
            return Err(Error::Usage(format!(
                "the image does not fit {}: it needs {needed} bytes of {what}, {available} are there\nhelp: {help}",
                board.name
            )));
        }
    }
    write_whole(&arguments.output, &bytes)?;
    let measured = match &arguments.firmware {
        Some(firmware) => Some(Qemu::new(firmware).run(&arguments.output)?),
        None => None,
    };
    let measured = measured.as_ref();
    if arguments.json {
        let object = serde_json::json!({
            "board": board.name,
            "flash_bytes": bytes.len(),
            "flash_available": board.image_bytes,
            "ram_bytes": ram,
            "ram_available": board.workspace_bytes,
            "instructions": measured.map(|report| report.instructions),
            "stack_high_water": measured.map(|report| report.stack_high_water),
        });
        writeln!(out, "{object}")?;
        return Ok(());
    }
    writeln!(out, "{:14} {:>12} {:>12}", board.name, "needs", "has")?;
    let mut row =
        |what: &str, needs: String, has: String| writeln!(out, "{what:14} {needs:>12} {has:>12}");
    row(
        "flash, bytes",
        bytes.len().to_string(),
        board.image_bytes.to_string(),
    )?;
    row(
        "memory, bytes",
        ram.to_string(),
        board.workspace_bytes.to_string(),
    )?;
    if let Some(report) = measured {
        row(
            "stack, bytes",
            report.stack_high_water.to_string(),
            board.stack_bytes.to_string(),
        )?;
        row(
            "instructions",
            report.instructions.to_string(),
            String::new(),
        )?;
    }
    writeln!(out, "saved {}", arguments.output.display())?;
    Ok(())
}

impl ExportArguments {
    /// The first state of every episode for a task that starts there, else
    /// none.
    fn initial_states(&self, task: &mut TaskFile) -> Result<Vec<f32>, Error> {
        let from_data = task.initial == Initial::Data;
        let Some(path) = &self.data else {
            if from_data {
                let text = "the task starts from its data: give the log with --data";
                return Err(Error::Usage(text.to_owned()));
            }
            return Ok(Vec::new());
        };
        let log = read_log(path, task)?;
        task.fit_smoothing(
            log.rows()
                .map(|row| (row.state, row.action, row.next_state)),
        );
        let mut last = None;
        let firsts = log
            .rows()
            .filter(|row| last.replace(row.episode) != Some(row.episode))
            .flat_map(|row| row.state.to_vec());
        Ok(if from_data {
            firsts.collect()
        } else {
            Vec::new()
        })
    }
}
