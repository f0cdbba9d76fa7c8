//! Weights beside the model: only from its own folder.

use std::path::PathBuf;

use super::super::message::{Entry, TensorMessage};
use super::{Builder, shaped, task};
use crate::policy::onnx::options::OnnxOptions;
use crate::policy::onnx::read::decode;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hambo-onnx-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("model/inner")).unwrap();
        let numbers: Vec<u8> = [3.0_f32, -2.0]
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        for place in ["outside.bin", "model/inside.bin", "model/inner/deep.bin"] {
            std::fs::write(path.join(place), &numbers).unwrap();
        }
        Self(path)
    }

    /// Reads `y = W x` with W in the file that these entries name.
    fn read(&self, entries: &[(&str, &str)]) -> Result<Vec<f32>, String> {
        let entries = entries.iter().map(|(key, value)| Entry {
            key: (*key).to_owned(),
            value: (*value).to_owned(),
        });
        let weight = TensorMessage {
            external: entries.collect(),
            location: 1,
            ..shaped("W", &[1, 1], 1)
        };
        let bytes = Builder::new(1)
            .tensor(weight)
            .node("MatMul", &["x", "W"], "y")
            .finish();
        let folder = self.0.join("model");
        let read = decode(
            &bytes,
            Some(&folder),
            &task(1, 1, 9.0),
            &OnnxOptions::default(),
        );
        read.map(|read| read.policy.layers[0].weights.clone())
            .map_err(|error| error.to_string())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn weights_are_read_from_the_models_folder() {
    let folder = Folder::new("good");
    assert_eq!(
        folder.read(&[("location", "inside.bin"), ("length", "4")]),
        Ok(vec![3.0])
    );
    assert_eq!(
        folder.read(&[("location", "inside.bin"), ("offset", "4")]),
        Ok(vec![-2.0])
    );
    assert_eq!(
        folder.read(&[("location", "inner/deep.bin")]),
        Ok(vec![3.0])
    );
    assert_eq!(folder.read(&[("location", "./inside.bin")]), Ok(vec![3.0]));
}

#[test]
fn no_other_file_is_read() {
    let folder = Folder::new("bad");
    let absolute = folder.0.join("outside.bin").display().to_string();
    let inside = folder.0.join("model/inside.bin").display().to_string();
    #[cfg(unix)]
    {
        let link = |to: &str, name: &str| {
            std::os::unix::fs::symlink(folder.0.join(to), folder.0.join("model").join(name))
                .unwrap();
        };
        link("outside.bin", "link.bin");
        link("", "up");
        link("model/inside.bin", "kind.bin");
        for (location, wanted) in [("link.bin", "outside"), ("up/outside.bin", "outside")] {
            let error = folder.read(&[("location", location)]).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
        // A link that stays inside is a file like any other.
        assert_eq!(folder.read(&[("location", "kind.bin")]), Ok(vec![3.0]));
    }
    let cases: [(&[(&str, &str)], &str); 12] = [
        (
            &[("location", "../outside.bin")],
            "outside the model's folder",
        ),
        (
            &[("location", "inner/../../outside.bin")],
            "outside the model's folder",
        ),
        (&[("location", &absolute)], "outside the model's folder"),
        (&[("location", &inside)], "outside the model's folder"),
        (
            &[("location", "..\\outside.bin")],
            "outside the model's folder",
        ),
        (&[("location", "")], "not a plain file"),
        (&[("location", "inner")], "not a plain file"),
        (&[("location", "missing.bin")], "cannot open"),
        (
            &[("location", "inside.bin"), ("offset", "5")],
            "4 from byte 5",
        ),
        (
            &[
                ("location", "inside.bin"),
                ("offset", "18446744073709551615"),
            ],
            "are asked for",
        ),
        (
            &[("location", "inside.bin"), ("length", "8")],
            "its shape needs 4",
        ),
        (
            &[("location", "inside.bin"), ("offset", "-1")],
            "offset of its external data",
        ),
    ];
    for (entries, wanted) in cases {
        let error = folder.read(entries).unwrap_err();
        assert!(
            error.contains(wanted) && error.contains("tensor `W`"),
            "{entries:?}: {error}"
        );
        assert!(error.contains("help: "), "{error}");
    }
    assert!(folder.read(&[]).unwrap_err().contains("no location"));
}
