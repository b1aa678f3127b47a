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

/// What is told of a call, where anybody may be: the function given as `notify`, or the observer.
#[cfg(feature = "observer")]
#[doc(hidden)]
#[macro_export]
macro_rules! __events {
    (@policy $notify:tt $call:ident, $policy:expr) => {
        $crate::__private::Call::sees(&mut $call, $policy)
    };
    ($notify:tt $($tells:tt)*) => { $($tells)* };
}

#[cfg(not(feature = "observer"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __events {
    (@policy [] $call:ident, $policy:expr) => { $policy };
    (@policy $notify:tt $call:ident, $policy:expr) => {
        $crate::__private::Call::sees(&mut $call, $policy)
    };
    ([] $($tells:tt)*) => {};
    ($notify:tt $($tells:tt)*) => { $($tells)* };
}

#[cfg(feature = "observer")]
#[doc(hidden)]
#[macro_export]
macro_rules! __seen {
    ($error:expr) => {{
        #[allow(unused_imports, reason = "one of them is used")]
        use $crate::__private::{
            ShownAsError as _, ShownByDebug as _, ShownByDisplay as _, ShownByName as _,
        };
        let __error = $error;
        let __cause = match __error {
            $crate::__private::Option::Some(__error) => $crate::__private::Option::Some(
                (&&&&$crate::__private::Erased(__error)).__retryable_cause(),
            ),
            $crate::__private::Option::None => $crate::__private::Option::None,
        };
        $crate::__private::Seen::new(__error, __cause)
    }};
}

#[cfg(not(feature = "observer"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __seen {
    ($error:expr) => {
        $crate::__private::Seen::new($error)
    };
}

#[cfg(feature = "tracing")]
#[doc(hidden)]
#[macro_export]
macro_rules! __spanned {
    ($name:expr, $attempts:ident, blocking $attempt:expr) => {{
        let __span = $crate::__private::attempt_span($name, $attempts);
        let __entered = $crate::__private::Span::enter(&__span);
        $attempt
    }};
    ($name:expr, $attempts:ident, future $attempt:ident) => {
        $crate::__private::Instrument::instrument(
            $attempt,
            $crate::__private::attempt_span($name, $attempts),
        )
        .await
    };
    ($name:expr, $attempts:ident, task $attempt:expr) => {
        $crate::__private::Instrument::instrument(
            async { $attempt },
            $crate::__private::attempt_span($name, $attempts),
        )
        .await
    };
}

#[cfg(not(feature = "tracing"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __spanned {
    ($name:expr, $attempts:ident, future $attempt:ident) => {
        $attempt.await
    };
    ($name:expr, $attempts:ident, $kind:ident $attempt:expr) => {
        $attempt
    };
}

/// A function's place in the list of them, and its policy as that may be overridden.
#[cfg(feature = "sites")]
#[doc(hidden)]
#[macro_export]
macro_rules! __site {
    ($name:expr, [$($policy:expr)?]) => {
        static __RETRYABLE_SITE: $crate::__private::Site =
            $crate::__private::Site::new($name, $crate::__site!(@option $($policy)?));
        $crate::__private::submit! { &__RETRYABLE_SITE }
    };
    (@option) => { $crate::__private::Option::None };
    (@option $policy:expr) => { $crate::__private::Option::Some($policy) };
    (@policy $policy:expr) => {
        &$crate::__private::Site::policy_or(&__RETRYABLE_SITE, $policy)
    };
}

#[cfg(not(feature = "sites"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __site {
    ($name:expr, $policy:tt) => {};
    (@policy $policy:expr) => {
        $policy
    };
}
