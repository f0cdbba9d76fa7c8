//! Writes the generated parts of the pages; for `cargo xtask pages`.

fn main() -> Result<(), String> {
    for page in hambo_tests::pages::write()? {
        println!("{page}");
    }
    Ok(())
}
