//! Where to log next, as a table and as a CSV file.

use std::io::Write;

use hambo_base::Error;
use hambo_check::log_next::LogNext;
use hambo_check::paths::Paths;
use hambo_task::task::TaskFile;

/// The places for people.
pub(super) fn write(places: &[LogNext], paths: &Paths, out: &mut impl Write) -> Result<(), Error> {
    if places.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\nwhere more data would take most from the adversary (share of what uncertainty costs)"
    )?;
    for place in places {
        let names = paths.states.iter().chain(&paths.actions);
        let values = place.state.iter().chain(&place.action);
        let inputs: Vec<String> = names
            .zip(values)
            .map(|(name, value)| format!("{name} = {value:.3}"))
            .collect();
        writeln!(
            out,
            "{:5.1} %  {} (step {}; the next {} is uncertain)",
            100.0 * place.share.0,
            inputs.join(", "),
            place.step,
            place.uncertain
        )?;
    }
    Ok(())
}

/// One row for each place: states and actions by their names, then what is known of it.
pub(super) fn csv(places: &[LogNext], task: &TaskFile) -> Result<String, Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = task.state_names.iter().chain(&task.action_names);
    let more = ["share", "step", "uncertain"].map(str::to_owned);
    let failed = |error: csv::Error| std::io::Error::other(error);
    writer
        .write_record(names.cloned().chain(more))
        .map_err(failed)?;
    for place in places {
        let inputs = place.state.iter().chain(&place.action);
        let more = [
            place.share.to_string(),
            place.step.to_string(),
            place.uncertain.clone(),
        ];
        let record = inputs.map(ToString::to_string).chain(more);
        writer.write_record(record).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
