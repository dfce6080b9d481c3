//! The README shows real output: each of its console blocks is run.

#[test]
fn every_console_block_of_the_readme_is_what_the_program_prints() {
    trycmd::TestCases::new().case("README.md");
}
