"""The shapes of functions that are retried: each written once, for every crate.

`#[RETRY]` stands for a crate's attribute. `fetch()` counts a call; the first two fail, the third
returns `Ok(3)`. `check` is an expression that is true if the caller got the right value.
A shape made with `both` is written as async; the sync one is the same without `async` and `.await`.
"""

import re
from dataclasses import dataclass, field
from textwrap import dedent


@dataclass
class Shape:
    section: str
    title: str
    kind: str  # "async" or "sync": what the user writes
    code: str
    check: str
    # What a crate's attribute says in place of its usual keys, by crate; see `run.py`
    keys: dict = field(default_factory=dict)
    head: str = ""  # before everything else in the file
    calls: int = 3  # the number of calls that is right
    main: str = ""  # "async" or "sync", where it is not the kind
    wrong: str = ""  # what a wrong value after the right number of calls means

    @property
    def name(self):
        """A file name."""
        words = re.sub(r"&mut ", "mut-ref ", self.title)
        words = re.sub(r"&", "ref ", words)
        words = re.sub(r"\?", "question mark", words)
        return re.sub(r"[^a-z0-9]+", "_", f"{self.kind} {words}".lower()).strip("_")


SHAPES = []
_section = ""


def section(title):
    global _section
    _section = title


def _add(kind, title, code, check, **more):
    SHAPES.append(Shape(_section, title, kind, dedent(code).strip(), check, **more))


def task(title, code, check, **more):
    _add("async", title, code, check, **more)


def blocking(title, code, check, **more):
    _add("sync", title, code, check, **more)


def both(title, code, check, **more):
    task(title, code, check, **more)

    def without(text):
        return text.replace("async ", "").replace(".await", "")

    blocking(title, without(code), without(check), **more)


ANY = 'on = "any"'  # retry every error, which is what the peers do when nothing is said


def clone(names):
    return {"retry-runtime": f"{ANY}, clone({names})"}


# ---------------------------------------------------------------------------------------------
section("Functions and methods")

both(
    "free function",
    """
    #[RETRY]
    async fn f() -> Result<u32, Failed> {
        fetch().await
    }
    """,
    "f().await == Ok(3)",
)
both(
    "`&self` method",
    """
    struct Client {
        base: u32,
    }
    impl Client {
        #[RETRY]
        async fn get(&self, add: u32) -> Result<u32, Failed> {
            fetch().await.map(|n| n + self.base + add)
        }
    }
    """,
    "Client { base: 10 }.get(100).await == Ok(113)",
)
both(
    "`&mut self` method",
    """
    struct Client {
        tries: u32,
    }
    impl Client {
        #[RETRY]
        async fn get(&mut self) -> Result<u32, Failed> {
            self.tries += 1;
            fetch().await
        }
    }
    """,
    "{ let mut client = Client { tries: 0 }; client.get().await == Ok(3) && client.tries == 3 }",
)
both(
    "`self`, only read",
    """
    struct Client {
        base: u32,
        _name: String,
    }
    impl Client {
        #[RETRY]
        async fn get(self) -> Result<u32, Failed> {
            fetch().await.map(|n| n + self.base)
        }
    }
    """,
    "Client { base: 10, _name: String::new() }.get().await == Ok(13)",
)
both(
    "`self`, a field moved out (`Self: Clone`)",
    """
    #[derive(Clone)]
    struct Client {
        name: String,
    }
    impl Client {
        #[RETRY]
        async fn get(self) -> Result<String, Failed> {
            let name = self.name;
            fetch().await.map(|_| name)
        }
    }
    """,
    'Client { name: "a".into() }.get().await == Ok("a".into())',
    keys=clone("self"),
)
both(
    "`self: Arc<Self>`",
    """
    struct Client {
        base: u32,
    }
    impl Client {
        #[RETRY]
        async fn get(self: Arc<Self>) -> Result<u32, Failed> {
            fetch().await.map(|n| n + self.base)
        }
    }
    """,
    "Arc::new(Client { base: 10 }).get().await == Ok(13)",
)
blocking(
    "`self: &Self`",
    """
    struct Client {
        base: u32,
    }
    impl Client {
        #[RETRY]
        fn get(self: &Self) -> Result<u32, Failed> {
            fetch().map(|n| n + self.base)
        }
    }
    """,
    "Client { base: 10 }.get() == Ok(13)",
)
task(
    "associated function, `-> Result<Self, _>`",
    """
    #[derive(PartialEq)]
    struct Client {
        id: u32,
    }
    impl Client {
        #[RETRY]
        async fn connect() -> Result<Self, Failed> {
            fetch().await.map(|id| Self { id })
        }
    }
    """,
    "Client::connect().await == Ok(Client { id: 3 })",
)
task(
    "generic method of a generic impl",
    """
    struct Cache<T> {
        value: T,
    }
    impl<T: Into<u32> + Copy> Cache<T> {
        #[RETRY]
        async fn get<K: AsRef<str>>(&self, key: &K) -> Result<u32, Failed> {
            fetch().await.map(|n| n + self.value.into() + key.as_ref().len() as u32)
        }
    }
    """,
    'Cache { value: 10_u8 }.get(&"ab").await == Ok(15)',
)
task(
    "two types with a method of one name",
    """
    struct A;
    struct B;
    impl A {
        #[RETRY]
        async fn get(&self) -> Result<u32, Failed> {
            fetch().await
        }
    }
    impl B {
        #[RETRY]
        async fn get(&self) -> Result<u32, Failed> {
            A.get().await.map(|n| n + 1)
        }
    }
    """,
    "B.get().await == Ok(4)",
)
blocking(
    "as a function pointer",
    """
    #[RETRY]
    fn f(add: u32) -> Result<u32, Failed> {
        fetch().map(|n| n + add)
    }
    """,
    "{ let pointer: fn(u32) -> Result<u32, Failed> = f; pointer(1) == Ok(4) }",
)
blocking(
    "recursive",
    """
    #[RETRY]
    fn f(depth: u32) -> Result<u32, Failed> {
        if depth == 0 { fetch() } else { f(depth - 1) }
    }
    """,
    "f(2) == Ok(3)",
)
task(
    "recursive, `Box::pin`",
    """
    #[RETRY]
    async fn f(depth: u32) -> Result<u32, Failed> {
        if depth == 0 { fetch().await } else { Box::pin(f(depth - 1)).await }
    }
    """,
    "f(2).await == Ok(3)",
)
both(
    "`unsafe fn`",
    """
    #[RETRY]
    async unsafe fn f() -> Result<u32, Failed> {
        fetch().await
    }
    """,
    "unsafe { f().await == Ok(3) }",
)
blocking(
    "`unsafe fn` with an unsafe operation",
    """
    #[RETRY]
    unsafe fn f(number: *const u32) -> Result<u32, Failed> {
        let add = unsafe { *number };
        fetch().map(|n| n + add)
    }
    """,
    "unsafe { f(&10) == Ok(13) }",
)
blocking(
    '`extern "C" fn`',
    """
    #[allow(improper_ctypes_definitions)]
    #[RETRY]
    extern "C" fn f() -> Result<u32, Failed> {
        fetch()
    }
    """,
    '{ let pointer: extern "C" fn() -> Result<u32, Failed> = f; pointer() == Ok(3) }',
)

# ---------------------------------------------------------------------------------------------
section("Arguments")

both(
    "`String`, consumed",
    """
    #[RETRY]
    async fn f(text: String) -> Result<Vec<u8>, Failed> {
        let bytes = text.into_bytes();
        fetch().await.map(|_| bytes)
    }
    """,
    'f("ab".into()).await == Ok(b"ab".to_vec())',
    keys=clone("text"),
)
both(
    "`String`, only read",
    """
    #[RETRY]
    async fn f(text: String) -> Result<usize, Failed> {
        fetch().await.map(|_| text.len())
    }
    """,
    'f("ab".into()).await == Ok(2)',
)
both(
    "`Vec`, consumed by a loop",
    """
    #[RETRY]
    async fn f(items: Vec<String>) -> Result<String, Failed> {
        let mut all = String::new();
        for item in items {
            all += &item;
        }
        fetch().await.map(|_| all)
    }
    """,
    'f(vec!["a".into(), "b".into()]).await == Ok("ab".into())',
    keys=clone("items"),
)
both(
    "`&str` and `&[u8]`",
    """
    #[RETRY]
    async fn f(text: &str, bytes: &[u8]) -> Result<usize, Failed> {
        fetch().await.map(|_| text.len() + bytes.len())
    }
    """,
    'f("ab", b"c").await == Ok(3)',
)
both(
    "not `Clone`, only read",
    """
    struct Token(u32);
    #[RETRY]
    async fn f(token: Token) -> Result<u32, Failed> {
        fetch().await.map(|n| n + token.0)
    }
    """,
    "f(Token(10)).await == Ok(13)",
)
task(
    "`Copy` types only",
    """
    #[RETRY]
    async fn f(a: u32, b: bool, c: Option<char>) -> Result<u32, Failed> {
        fetch().await.map(|n| n + a + b as u32 + c.map_or(0, |c| c as u32))
    }
    """,
    "f(10, true, None).await == Ok(14)",
)
both(
    "generic, with `where`",
    """
    #[RETRY]
    async fn f<T>(value: &T) -> Result<String, Failed>
    where
        T: std::fmt::Display + ?Sized,
    {
        fetch().await.map(|n| format!("{value}{n}"))
    }
    """,
    'f("a").await == Ok("a3".into())',
)
task(
    "generic, by value",
    """
    #[RETRY]
    async fn f<T: std::fmt::Display>(value: T) -> Result<String, Failed> {
        fetch().await.map(|n| format!("{value}{n}"))
    }
    """,
    'f("a".to_string()).await == Ok("a3".into())',
)
both(
    "`impl Trait`",
    """
    #[RETRY]
    async fn f(value: impl std::fmt::Display) -> Result<String, Failed> {
        fetch().await.map(|n| format!("{value}{n}"))
    }
    """,
    'f("a".to_string()).await == Ok("a3".into())',
)
both(
    "const generic",
    """
    #[RETRY]
    async fn f<const N: usize>(bytes: [u8; N]) -> Result<usize, Failed> {
        fetch().await.map(|_| N + bytes.len())
    }
    """,
    "f([0; 2]).await == Ok(4)",
)
both(
    "named lifetime",
    """
    #[RETRY]
    async fn f<'a>(text: &'a str, _other: &str) -> Result<&'a str, Failed> {
        fetch().await.map(|_| text)
    }
    """,
    'f("a", "b").await == Ok("a")',
)
task(
    "`F: Fn`, by value",
    """
    #[RETRY]
    async fn f<F: Fn(u32) -> u32>(convert: F) -> Result<u32, Failed> {
        fetch().await.map(|n| convert(n))
    }
    """,
    "{ let add = vec![10]; f(move |n| n + add[0]).await == Ok(13) }",
)
blocking(
    "`mut` closure, `F: FnMut`",
    """
    #[RETRY]
    fn f<F: FnMut() -> u32>(mut next: F) -> Result<u32, Failed> {
        let n = next();
        fetch().map(|_| n)
    }
    """,
    "{ let mut n = 0; f(|| { n += 1; n }) == Ok(3) }",
)
task(
    "`&dyn Fn`",
    """
    #[RETRY]
    async fn f(convert: &dyn Fn(u32) -> u32) -> Result<u32, Failed> {
        fetch().await.map(|n| convert(n))
    }
    """,
    "f(&|n| n + 10).await == Ok(13)",
)
both(
    "`&mut Vec`",
    """
    #[RETRY]
    async fn f(log: &mut Vec<u32>) -> Result<u32, Failed> {
        log.push(log.len() as u32);
        fetch().await
    }
    """,
    "{ let mut log = vec![]; f(&mut log).await == Ok(3) && log == [0, 1, 2] }",
)
both(
    "`mut x: u32`",
    """
    #[RETRY]
    async fn f(mut x: u32) -> Result<u32, Failed> {
        x += 1;
        fetch().await.map(|_| x)
    }
    """,
    "f(10).await == Ok(11)",
    wrong="`x` keeps its changes",
)
task(
    "`mut text: String`, returned",
    """
    #[RETRY]
    async fn f(mut text: String) -> Result<String, Failed> {
        text.push('!');
        fetch().await.map(|_| text)
    }
    """,
    'f("a".into()).await == Ok("a!".into())',
    wrong="`text` keeps its changes",
)
both(
    "pattern `(a, b)`",
    """
    #[RETRY]
    async fn f((a, b): (u32, String)) -> Result<u32, Failed> {
        fetch().await.map(|n| n + a + b.len() as u32)
    }
    """,
    'f((10, "ab".into())).await == Ok(15)',
)
task(
    "pattern in a `&self` method",
    """
    struct Client {
        base: u32,
    }
    impl Client {
        #[RETRY]
        async fn get(&self, (a, b): (u32, u32)) -> Result<u32, Failed> {
            fetch().await.map(|n| n + self.base + a + b)
        }
    }
    """,
    "Client { base: 10 }.get((100, 1000)).await == Ok(1113)",
)
both(
    "pattern `_`",
    """
    #[RETRY]
    async fn f(_: u32) -> Result<u32, Failed> {
        fetch().await
    }
    """,
    "f(10).await == Ok(3)",
)
task(
    "raw name `r#type`",
    """
    #[RETRY]
    async fn f(r#type: u32) -> Result<u32, Failed> {
        fetch().await.map(|n| n + r#type)
    }
    """,
    "f(10).await == Ok(13)",
)
task(
    "`#[cfg]` on arguments",
    """
    #[RETRY]
    async fn f(#[cfg(all())] a: u32, #[cfg(any())] a: String) -> Result<u32, Failed> {
        fetch().await.map(|n| n + a)
    }
    """,
    "f(10).await == Ok(13)",
)
task(
    "captured by `async move` in the body",
    """
    #[RETRY]
    async fn f(text: String) -> Result<usize, Failed> {
        let task = async move { text.len() };
        let length = task.await;
        fetch().await.map(|_| length)
    }
    """,
    'f("ab".into()).await == Ok(2)',
    keys=clone("text"),
)
blocking(
    "unused ones",
    """
    #[RETRY]
    #[allow(unused_variables)]
    fn f(a: u32, b: String) -> Result<u32, Failed> {
        fetch()
    }
    """,
    "f(10, String::new()) == Ok(3)",
)

# ---------------------------------------------------------------------------------------------
section("Leaving the body")

both(
    "`?`",
    """
    #[RETRY]
    async fn f() -> Result<u32, Failed> {
        let n = fetch().await?;
        Ok(n)
    }
    """,
    "f().await == Ok(3)",
)
both(
    "early `return`",
    """
    #[RETRY]
    async fn f() -> Result<u32, Failed> {
        if let Err(failed) = fetch().await {
            return Err(failed);
        }
        Ok(3)
    }
    """,
    "f().await == Ok(3)",
)
task(
    "`return Err(..)`, then `Ok(())`",
    """
    #[RETRY]
    async fn f() -> Result<(), Failed> {
        if fetch().await.is_err() {
            return Err(Failed);
        }
        Ok(())
    }
    """,
    "f().await == Ok(())",
)
task(
    "`match` with `_ => return`",
    """
    #[RETRY]
    async fn f() -> Result<u32, Failed> {
        let n = match fetch().await {
            Ok(n) => n,
            _ => return Err(Failed),
        };
        Ok(n + 10)
    }
    """,
    "f().await == Ok(13)",
)
both(
    "`?` with `From`",
    """
    #[derive(Debug, PartialEq)]
    enum Outer {
        Inner(Failed),
    }
    impl From<Failed> for Outer {
        fn from(failed: Failed) -> Self {
            Self::Inner(failed)
        }
    }
    #[RETRY]
    async fn f() -> Result<u32, Outer> {
        let n = fetch().await?;
        Ok(n)
    }
    """,
    "f().await == Ok(3)",
)
both(
    "`Ok(g()?.into())`",
    """
    #[RETRY]
    async fn f() -> Result<u64, Failed> {
        Ok(fetch().await?.into())
    }
    """,
    "f().await == Ok(3)",
)
both(
    "`collect::<Result<_, _>>()?`",
    """
    #[RETRY]
    async fn f() -> Result<u32, Failed> {
        let first = fetch().await;
        let all = [first, Ok(10)].into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(all.iter().sum())
    }
    """,
    "f().await == Ok(13)",
)
both(
    "`?` inside `format!`",
    """
    #[RETRY]
    async fn f() -> Result<String, Failed> {
        Ok(format!("n = {}", fetch().await?))
    }
    """,
    'f().await == Ok("n = 3".into())',
)
task(
    "`?` inside `tokio::select!`",
    """
    #[RETRY]
    async fn f() -> Result<u32, Failed> {
        tokio::select! {
            n = fetch() => Ok(n?),
            () = std::future::pending() => Ok(0),
        }
    }
    """,
    "f().await == Ok(3)",
)
task(
    "`?` inside a closure",
    """
    #[RETRY]
    async fn f() -> Result<u32, Failed> {
        let first = fetch().await;
        let add = |first: Result<u32, Failed>| -> Result<u32, Failed> { Ok(first? + 10) };
        let n = add(first)?;
        Ok(n)
    }
    """,
    "f().await == Ok(13)",
)
task(
    "`?` inside an `async` block",
    """
    #[RETRY]
    async fn f() -> Result<u32, Failed> {
        let inner = async {
            let n = fetch().await?;
            Ok::<_, Failed>(n + 10)
        };
        inner.await
    }
    """,
    "f().await == Ok(13)",
)
task(
    "`return` inside a closure",
    """
    #[RETRY]
    async fn f() -> Result<u32, Failed> {
        let add = |n: u32| {
            if n == 3 {
                return 13;
            }
            n
        };
        fetch().await.map(add)
    }
    """,
    "f().await == Ok(13)",
)
task(
    "`?` and `return` in an inner `fn` and `impl`",
    """
    #[RETRY]
    async fn f() -> Result<u32, Failed> {
        struct Inner;
        impl Inner {
            fn get(&self, first: Result<u32, Failed>) -> Result<u32, Failed> {
                let n = first?;
                return add(n);
            }
        }
        fn add(n: u32) -> Result<u32, Failed> {
            return Ok(n + 10);
        }
        let first = fetch().await;
        Inner.get(first)
    }
    """,
    "f().await == Ok(13)",
)
task(
    "`return` out of labelled loops",
    """
    #[RETRY]
    async fn f() -> Result<u32, Failed> {
        'outer: loop {
            loop {
                match fetch().await {
                    Ok(3) => break 'outer,
                    Ok(_) => continue 'outer,
                    Err(failed) => return Err(failed),
                }
            }
        }
        Ok(3)
    }
    """,
    "f().await == Ok(3)",
)
task(
    "a label named `'block`",
    """
    #[RETRY]
    async fn f() -> Result<u32, Failed> {
        let n = 'block: {
            let n = fetch().await?;
            if n == 3 {
                break 'block 13;
            }
            n
        };
        Ok(n)
    }
    """,
    "f().await == Ok(13)",
)
task(
    "a lock held across an `.await`",
    """
    #[RETRY]
    async fn f(total: &tokio::sync::Mutex<u32>) -> Result<u32, Failed> {
        let mut total = total.lock().await;
        *total += 1;
        fetch().await.map(|n| n + *total)
    }
    """,
    "f(&tokio::sync::Mutex::new(0)).await == Ok(6)",
)
blocking(
    "`fs::read(path)?`",
    """
    #[RETRY]
    fn f(path: &std::path::Path) -> std::io::Result<usize> {
        // the first two calls read a file that does not exist
        let path = if fetch().is_err() { std::path::Path::new("no/such/file") } else { path };
        let bytes = std::fs::read(path)?;
        Ok(bytes.len())
    }
    """,
    "f(&std::env::current_exe().unwrap()).is_ok_and(|length| length > 0)",
)
task(
    "the first call succeeds",
    """
    #[RETRY]
    async fn f(text: String) -> Result<usize, Failed> {
        let _ = fetch().await;
        Ok(text.len())
    }
    """,
    'f("ab".into()).await == Ok(2)',
    calls=1,
)

# ---------------------------------------------------------------------------------------------
section("Return types")

both(
    "`io::Result`",
    """
    #[RETRY]
    async fn f() -> std::io::Result<u32> {
        fetch().await.map_err(std::io::Error::other)
    }
    """,
    "f().await.ok() == Some(3)",
)
both(
    "`type Res = Result<..>`",
    """
    type Res = Result<u32, Failed>;
    #[RETRY]
    async fn f() -> Res {
        fetch().await
    }
    """,
    "f().await == Ok(3)",
)
both(
    "`anyhow::Result`, `bail!` and `?`",
    """
    #[RETRY]
    async fn f() -> anyhow::Result<u32> {
        if fetch().await.is_err() {
            anyhow::bail!("not yet");
        }
        let n: u32 = "3".parse()?;
        Ok(n)
    }
    """,
    "f().await.ok() == Some(3)",
)
task(
    "`Box<dyn Error + Send + Sync>`, `Err(..)?`",
    """
    #[RETRY]
    async fn f() -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
        if fetch().await.is_err() {
            Err("not yet")?;
        }
        Ok(3)
    }
    """,
    "f().await.ok() == Some(3)",
)
both(
    "`Box<dyn Error>`, `return Err(Box::new(..))` and `?`",
    """
    #[RETRY]
    async fn f() -> Result<u32, Box<dyn std::error::Error>> {
        if let Err(failed) = fetch().await {
            return Err(Box::new(failed));
        }
        let n = "3".parse::<u32>()?;
        Ok(n)
    }
    """,
    "f().await.ok() == Some(3)",
)
both(
    "`&self -> Result<&str, _>` from a `String`",
    """
    struct Client {
        name: String,
    }
    impl Client {
        #[RETRY]
        async fn name(&self) -> Result<&str, Failed> {
            match fetch().await {
                Ok(_) => Ok(&self.name),
                Err(failed) => Err(failed),
            }
        }
    }
    """,
    'Client { name: "a".into() }.name().await == Ok("a")',
)
task(
    "`Result<Result<..>, _>`, the outer one judged",
    """
    #[RETRY]
    async fn f() -> Result<Result<u32, u32>, Failed> {
        fetch().await.map(|n| Err(n))
    }
    """,
    "f().await == Ok(Err(3))",
)
both(
    "`Result<impl Iterator, _>`",
    """
    #[RETRY]
    async fn f() -> Result<impl Iterator<Item = u32>, Failed> {
        fetch().await.map(|n| 0..n)
    }
    """,
    "f().await.is_ok_and(|numbers| numbers.sum::<u32>() == 3)",
)
task(
    "`fn -> impl Future<Output = Result<..>>`",
    """
    #[RETRY]
    fn f(add: u32) -> impl Future<Output = Result<u32, Failed>> {
        async move { fetch().await.map(|n| n + add) }
    }
    """,
    "f(10).await == Ok(13)",
)
task(
    "`fn -> Pin<Box<dyn Future<Output = Result<..>>>>`",
    """
    #[RETRY]
    fn f(add: u32) -> Pin<Box<dyn Future<Output = Result<u32, Failed>> + Send>> {
        Box::pin(async move { fetch().await.map(|n| n + add) })
    }
    """,
    "f(10).await == Ok(13)",
)
both(
    "`Option`, until `Some`",
    """
    #[RETRY]
    async fn f() -> Option<u32> {
        fetch().await.ok()
    }
    """,
    "f().await == Some(3)",
    keys={"retry-runtime": "until = Option::is_some", "retry-if": "none"},
)
both(
    "`Option`, with `?`",
    """
    #[RETRY]
    async fn f() -> Option<u32> {
        let n = fetch().await.ok()?;
        Some(n + 10)
    }
    """,
    "f().await == Some(13)",
    keys={"retry-runtime": "until = Option::is_some", "retry-if": "none"},
)
both(
    "a plain value, until a predicate holds",
    """
    #[RETRY]
    async fn f() -> u32 {
        fetch().await.unwrap_or(0)
    }
    """,
    "f().await == 3",
    keys={"retry-runtime": "until = ready", "retry-if": "not_ready"},
)

# ---------------------------------------------------------------------------------------------
section("Traits")

both(
    "method of a trait impl",
    """
    trait Get {
        async fn get(&self) -> Result<u32, Failed>;
    }
    struct Client;
    impl Get for Client {
        #[RETRY]
        async fn get(&self) -> Result<u32, Failed> {
            fetch().await
        }
    }
    """,
    "Client.get().await == Ok(3)",
)
task(
    "default method of a trait",
    """
    trait Get {
        fn base(&self) -> u32;
        #[RETRY]
        async fn get(&self) -> Result<u32, Failed> {
            fetch().await.map(|n| n + self.base())
        }
    }
    struct Client;
    impl Get for Client {
        fn base(&self) -> u32 {
            10
        }
    }
    """,
    "Client.get().await == Ok(13)",
)
task(
    "`async fn` for a trait's `-> impl Future + Send`",
    """
    trait Get {
        fn get(&self) -> impl Future<Output = Result<u32, Failed>> + Send;
    }
    struct Client;
    impl Get for Client {
        #[RETRY]
        async fn get(&self) -> Result<u32, Failed> {
            fetch().await
        }
    }
    """,
    "Client.get().await == Ok(3)",
)
task(
    "`#[async_trait]` impl method",
    """
    #[async_trait::async_trait]
    trait Get {
        async fn get(&self, add: u32) -> Result<u32, Failed>;
    }
    struct Client;
    #[async_trait::async_trait]
    impl Get for Client {
        #[RETRY]
        async fn get(&self, add: u32) -> Result<u32, Failed> {
            fetch().await.map(|n| n + add)
        }
    }
    """,
    "Client.get(10).await == Ok(13)",
)
task(
    "`#[async_trait]` impl method, with `?`",
    """
    #[async_trait::async_trait]
    trait Get: Send + Sync {
        async fn get(&self) -> Result<u32, Failed>;
    }
    struct Client;
    #[async_trait::async_trait]
    impl Get for Client {
        #[RETRY]
        async fn get(&self) -> Result<u32, Failed> {
            let n = fetch().await?;
            Ok(n + 10)
        }
    }
    """,
    "{ let client: Box<dyn Get> = Box::new(Client); client.get().await == Ok(13) }",
)
task(
    "`#[async_trait]` default method",
    """
    #[async_trait::async_trait]
    trait Get: Sync {
        #[RETRY]
        async fn get(&self) -> Result<u32, Failed> {
            fetch().await
        }
    }
    struct Client;
    impl Get for Client {}
    """,
    "Client.get().await == Ok(3)",
)

# ---------------------------------------------------------------------------------------------
section("Attributes and visibility")

task(
    "doc comment, `#[inline]`, `#[must_use]`, `#[cfg]`, `pub(crate)`",
    """
    mod inner {
        use super::*;
        /// Gets it.
        #[inline]
        #[RETRY]
        #[must_use]
        #[cfg(all())]
        pub(crate) async fn f() -> Result<u32, Failed> {
            fetch().await
        }
    }
    """,
    "inner::f().await == Ok(3)",
)
both(
    "`#[instrument]` below",
    """
    #[RETRY]
    #[tracing::instrument]
    async fn f(add: u32) -> Result<u32, Failed> {
        fetch().await.map(|n| n + add)
    }
    """,
    "f(10).await == Ok(13)",
)
task(
    "`#[instrument]` above",
    """
    #[tracing::instrument]
    #[RETRY]
    async fn f(add: u32) -> Result<u32, Failed> {
        fetch().await.map(|n| n + add)
    }
    """,
    "f(10).await == Ok(13)",
)
task(
    "`#[tokio::main]` below",
    """
    #[RETRY]
    #[tokio::main(flavor = "current_thread")]
    async fn f() -> Result<u32, Failed> {
        fetch().await
    }
    """,
    "f() == Ok(3)",
    main="sync",
)
task(
    "`#[tokio::main]` above",
    """
    #[tokio::main(flavor = "current_thread")]
    #[RETRY]
    async fn f() -> Result<u32, Failed> {
        fetch().await
    }
    """,
    "f() == Ok(3)",
    main="sync",
)
blocking(
    "`#[must_use]`, kept",
    """
    struct Plain(#[allow(dead_code)] u32);
    #[RETRY]
    #[must_use = "count it"]
    fn f() -> Result<Plain, Failed> {
        fetch().map(Plain)
    }
    #[expect(unused_must_use)]
    fn forgets() {
        f();
    }
    """,
    "{ forgets(); true }",
    head="#![deny(unfulfilled_lint_expectations)]",
)
blocking(
    "`#[deprecated]`, kept",
    """
    #[RETRY]
    #[deprecated = "count it"]
    fn f() -> Result<u32, Failed> {
        fetch()
    }
    #[expect(deprecated)]
    fn uses() -> Result<u32, Failed> {
        f()
    }
    """,
    "uses() == Ok(3)",
    head="#![deny(unfulfilled_lint_expectations)]",
)
both(
    "`pub`, called from another module",
    """
    mod inner {
        use super::*;
        #[RETRY]
        pub async fn f() -> Result<u32, Failed> {
            fetch().await
        }
    }
    """,
    "inner::f().await == Ok(3)",
)

# ---------------------------------------------------------------------------------------------
section("Tasks")

task(
    "`tokio::spawn(f())`",
    """
    #[RETRY]
    async fn f() -> Result<u32, Failed> {
        fetch().await
    }
    """,
    "tokio::spawn(f()).await.unwrap() == Ok(3)",
)
task(
    "spawned with an owned `String`",
    """
    #[RETRY]
    async fn f(text: String) -> Result<usize, Failed> {
        fetch().await.map(|_| text.len())
    }
    """,
    'tokio::spawn(f("ab".into())).await.unwrap() == Ok(2)',
)
task(
    "a `&self` method, spawned from an `Arc<Self>`",
    """
    struct Client {
        base: u32,
    }
    impl Client {
        #[RETRY]
        async fn get(&self) -> Result<u32, Failed> {
            fetch().await.map(|n| n + self.base)
        }
    }
    async fn spawned(client: Arc<Client>) -> Result<u32, Failed> {
        tokio::spawn(async move { client.get().await }).await.unwrap()
    }
    """,
    "spawned(Arc::new(Client { base: 10 })).await == Ok(13)",
)
task(
    "generic over a trait, spawned",
    """
    trait Store: Send + Sync + 'static {
        fn base(&self) -> u32;
    }
    struct Memory;
    impl Store for Memory {
        fn base(&self) -> u32 {
            10
        }
    }
    #[RETRY]
    async fn f<S: Store>(store: &S) -> Result<u32, Failed> {
        fetch().await.map(|n| n + store.base())
    }
    """,
    "tokio::spawn(async { f(&Memory).await }).await.unwrap() == Ok(13)",
)
task(
    "an argument that is not `Send`, `&Rc`",
    """
    #[RETRY]
    async fn f(base: &Rc<u32>) -> Result<u32, Failed> {
        fetch().await.map(|n| n + base.as_ref())
    }
    """,
    "f(&Rc::new(10)).await == Ok(13)",
)
task(
    "`&T`, `T` not `Sync`",
    """
    #[RETRY]
    async fn f<T: Clone + Into<u32>>(base: &std::cell::RefCell<T>) -> Result<u32, Failed> {
        fetch().await.map(|n| n + base.borrow().clone().into())
    }
    """,
    "f(&std::cell::RefCell::new(10_u8)).await == Ok(13)",
)
task(
    "an error that is not `Send`, in a `LocalSet`",
    """
    #[derive(Debug, PartialEq)]
    struct Local(Rc<u32>);
    #[RETRY]
    async fn f() -> Result<u32, Local> {
        fetch().await.map_err(|_| Local(Rc::new(1)))
    }
    """,
    "tokio::task::LocalSet::new().run_until(async { tokio::task::spawn_local(f()).await.unwrap() }).await == Ok(3)",
)

# ---------------------------------------------------------------------------------------------
section("Names and lints")

both(
    "`type Result<T>` in scope",
    """
    type Result<T> = std::result::Result<T, Failed>;
    #[RETRY]
    async fn f() -> Result<u32> {
        fetch().await
    }
    """,
    "f().await == Ok(3)",
)
both(
    "`Ok` and `Err` of another enum in scope",
    """
    mod inner {
        use super::*;
        #[allow(dead_code)]
        enum Light {
            Ok,
            Err,
        }
        #[allow(unused_imports)]
        use Light::{Err, Ok};
        #[RETRY]
        pub async fn f() -> Result<u32, Failed> {
            fetch().await
        }
    }
    """,
    "inner::f().await == Ok(3)",
)
both(
    "`mod std` in scope",
    """
    mod inner {
        use super::*;
        mod std {}
        #[RETRY]
        pub async fn f() -> Result<u32, Failed> {
            fetch().await
        }
    }
    """,
    "inner::f().await == Ok(3)",
)
task(
    "`mod tokio` in scope",
    """
    mod inner {
        use super::*;
        mod tokio {}
        #[RETRY]
        pub async fn f() -> Result<u32, Failed> {
            fetch().await
        }
    }
    """,
    "inner::f().await == Ok(3)",
)
# What an expansion may call something of its own
NAMES = ["attempts", "counter", "delay", "err", "outcome", "policy", "result", "tries", "wait"]
HIDDEN = ["__start", "__attempt", "__backoff_max", "__backon_builder", "__retry_wait", "__retryable"]


def some(names):
    return ", ".join(f"`{name}`" for name in names[:2])


def with_names(names, text):
    """A text that says something of each name."""
    for each in re.findall(r"<<(.*?)>>", text):
        text = text.replace(f"<<{each}>>", ", ".join(each.replace("NAME", name) for name in names))
    return text


def arguments(names):
    code = """
    #[RETRY]
    async fn f(<<NAME: &str>>) -> Result<usize, Failed> {
        let all = [<<NAME>>];
        fetch().await.map(|_| all.concat().len())
    }
    """
    check = 'f(<<"NAME">>).await == Ok([<<"NAME">>].concat().len())'
    title = f"arguments named {some(names)} and the like"
    return title, with_names(names, code), with_names(names, check)


def constants(names):
    code = """
    mod inner {
        #![allow(non_upper_case_globals)]
        use super::*;
        CONSTANTS
        #[RETRY]
        pub async fn f() -> Result<usize, Failed> {
            let all = [<<NAME>>];
            fetch().await.map(|_| all.concat().len())
        }
    }
    """
    declared = "\n        ".join(f'const {name}: &str = "{name}";' for name in names)
    check = 'inner::f().await == Ok([<<"NAME">>].concat().len())'
    title = f"constants named {some(names)} and the like"
    return title, with_names(names, code.replace("CONSTANTS", declared)), with_names(names, check)


both(*arguments(NAMES))
both(*constants(NAMES))
task(*arguments(HIDDEN))
both(
    "`deny(warnings)`",
    """
    #[RETRY]
    async fn f(text: &str) -> Result<usize, Failed> {
        fetch().await.map(|_| text.len())
    }
    """,
    'f("ab").await == Ok(2)',
    head="#![deny(warnings)]",
)
task(
    "`deny(missing_docs)`, a `pub` method",
    """
    /// Gets.
    pub struct Client;
    impl Client {
        /// Gets it.
        #[RETRY]
        pub async fn get(&self) -> Result<u32, Failed> {
            fetch().await
        }
    }
    """,
    "Client.get().await == Ok(3)",
    head="//! Documented.\n#![deny(missing_docs)]",
)
task(
    "`forbid(unsafe_code)`",
    """
    #[RETRY]
    async fn f() -> Result<u32, Failed> {
        fetch().await
    }
    """,
    "f().await == Ok(3)",
    head="#![forbid(unsafe_code)]",
)
both(
    "rustc's stricter lints",
    """
    #[derive(Debug)]
    struct Client {
        base: u32,
    }
    impl Client {
        #[RETRY]
        async fn get(&self, text: &str) -> Result<u32, Failed> {
            let base = self.base + u32::from(text.is_empty());
            fetch().await.map(|n| n + base)
        }
    }
    """,
    'Client { base: 10 }.get("ab").await == Ok(13)',
    head="#![deny(unused, rust_2018_idioms, let_underscore_drop, missing_copy_implementations,"
    " missing_debug_implementations, single_use_lifetimes, trivial_casts, trivial_numeric_casts,"
    " unreachable_pub, unused_lifetimes, unused_qualifications, variant_size_differences)]",
)
