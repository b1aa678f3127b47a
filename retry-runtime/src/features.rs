//! What the loop takes from a feature, and what it says without that feature.

#[cfg(any(feature = "tokio", feature = "smol", feature = "timer"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __pause {
    ($wait:expr, $name:expr) => {{
        $crate::__private::require_timer($name);
        $crate::__private::pause($wait).await
    }};
}

#[cfg(not(any(feature = "tokio", feature = "smol", feature = "timer")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __pause {
    ($wait:expr, $name:expr) => {
        ::core::compile_error!(
            "an async function waits on a timer: enable a feature of retry-runtime, `tokio`, `smol` or `timer`, or give `sleep = \"path\"`"
        )
    };
}

#[cfg(any(feature = "tokio", feature = "smol", feature = "timer"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __timer {
    ($limit:expr) => {{
        $crate::__private::require_timer("timeout_ms");
        $crate::__private::pause($limit)
    }};
    ($limit:expr, $timer:expr) => {
        $timer
    };
}

#[cfg(not(any(feature = "tokio", feature = "smol", feature = "timer")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __timer {
    ($limit:expr) => {
        ::core::compile_error!(
            "`timeout_ms` needs a timer: enable a feature of retry-runtime, `tokio`, `smol` or `timer`, or give `sleep = \"path\"`"
        )
    };
    ($limit:expr, $timer:expr) => {
        $timer
    };
}

#[cfg(feature = "cancel")]
#[doc(hidden)]
#[macro_export]
macro_rules! __cancelled {
    ($token:expr, async $wait:block) => {
        $crate::__private::cancelled_during($token, async $wait).await
    };
    ($token:expr, $wait:expr) => {
        $crate::__private::CancelBlocking::wait($token, $wait)
    };
}

#[cfg(not(feature = "cancel"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __cancelled {
    ($($wait:tt)*) => {
        ::core::compile_error!("`cancel` needs the feature `cancel` of retry-runtime")
    };
}
