//! Programs that have to compile.

use trybuild::TestCases;

#[test]
fn limits_in_owned_arguments_leave_the_body_its_use_of_them() {
    TestCases::new().pass("tests/limits/pass/owned_arguments.rs");
}
