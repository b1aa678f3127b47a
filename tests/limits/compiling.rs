//! Programs that should compile, and do not yet.

use trybuild::TestCases;

#[test]
#[ignore = "in a task, each owned argument that the body names is borrowed as if it were changed"]
fn limits_in_owned_arguments_leave_the_body_its_use_of_them() {
    TestCases::new().pass("tests/limits/pass/owned_arguments.rs");
}
