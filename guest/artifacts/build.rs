//! Compiles the guests to core modules and encodes them as components.
//!
//! The guests are built by a cargo of their own into `target/guest`, whatever the profile of this build is, so that
//! tests, the program and its release all have the same ones.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use wit_component::ComponentEncoder;

const TARGET: &str = "wasm32-unknown-unknown";
const PROFILE: &str = "guest";

/// A guest: the constant that holds it, and what cargo builds it from.
struct Guest {
    constant: &'static str,
    docs: &'static str,
    package: &'static str,
    example: Option<&'static str>,
}

const BUILTIN: &[Guest] = &[
    Guest { constant: "MONITORS", docs: "Behaviour monitors.", package: "chaperone-monitors", example: None },
    Guest {
        constant: "STOP_GUARD",
        docs: "The judge of premature stops.",
        package: "chaperone-stop-guard",
        example: None,
    },
];

const TEST_GUESTS: &[Guest] = &[
    Guest {
        constant: "HOSTILE",
        docs: "A guest that misbehaves on command.",
        package: "chaperone-hostile",
        example: None,
    },
    Guest {
        constant: "UNFINISHED",
        docs: "The SDK's example of a small watcher.",
        package: "chaperone-sdk",
        example: Some("unfinished"),
    },
];

fn main() -> Result<()> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../..").canonicalize()?;
    let target_dir = out.ancestors().nth(4).context("OUT_DIR is not in a target folder")?.join("guest");
    let toolchain = Toolchain::find(&root)?;

    let test_guests = if env::var_os("CARGO_FEATURE_TEST_GUESTS").is_some() { TEST_GUESTS } else { &[] };
    let mut source = String::new();
    for guest in BUILTIN.iter().chain(test_guests) {
        let core = toolchain.build(guest, &root, &target_dir)?;
        let module = fs::read(&core).with_context(|| format!("cannot read {}", core.display()))?;
        let component = ComponentEncoder::default()
            .module(&module)
            .and_then(|encoder| encoder.validate(true).encode())
            .with_context(|| format!("cannot make a component of {}", core.display()))?;
        let file = out.join(format!("{}.wasm", guest.constant.to_lowercase()));
        let digest = blake3::hash(&component);
        fs::write(&file, component)?;
        writeln!(source, "/// {}\npub const {}: &[u8] = include_bytes!({file:?});", guest.docs, guest.constant)?;
        if BUILTIN.iter().any(|builtin| builtin.constant == guest.constant) {
            writeln!(source, "const {}_DIGEST: [u8; 32] = {:?};", guest.constant, digest.as_bytes())?;
        }
        rebuild_when_sources_change(&core)?;
    }
    fs::write(out.join("components.rs"), source)?;

    for file in ["Cargo.toml", "Cargo.lock", "guest/toolchain.sh", "wit"] {
        println!("cargo::rerun-if-changed={}", root.join(file).display());
    }
    for variable in ["CHAPERONE_GUEST_TOOLCHAIN", "XDG_CACHE_HOME", "CARGO_FEATURE_TEST_GUESTS"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    Ok(())
}

/// The cargo and rustc that have the guests' target.
struct Toolchain {
    cargo: PathBuf,
    rustc: PathBuf,
}

impl Toolchain {
    fn find(root: &Path) -> Result<Self> {
        let script = root.join("guest/toolchain.sh");
        let output = Command::new("sh").arg(&script).arg("find").output().context("cannot run sh")?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
        let found = String::from_utf8(output.stdout)?;
        match found.lines().collect::<Vec<_>>()[..] {
            ["default"] => Ok(Self {
                cargo: env::var_os("CARGO").context("CARGO is not set")?.into(),
                rustc: env::var_os("RUSTC").context("RUSTC is not set")?.into(),
            }),
            [cargo, rustc] => Ok(Self { cargo: cargo.into(), rustc: rustc.into() }),
            _ => bail!("{} answered {found:?}", script.display()),
        }
    }

    /// Builds a guest and returns the path of its core module.
    fn build(&self, guest: &Guest, root: &Path, target_dir: &Path) -> Result<PathBuf> {
        let mut cargo = Command::new(&self.cargo);
        cargo.args(["build", "--target", TARGET, "--profile", PROFILE, "--package", guest.package]);
        match guest.example {
            Some(example) => cargo.args(["--example", example]),
            None => cargo.arg("--lib"),
        };
        cargo.arg("--target-dir").arg(target_dir).current_dir(root).env("RUSTC", &self.rustc);
        // What the outer cargo sets for its own compiler is wrong for another one.
        for variable in [
            "CARGO_ENCODED_RUSTFLAGS",
            "RUSTFLAGS",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "RUSTUP_TOOLCHAIN",
            "CARGO_BUILD_TARGET",
            "RUSTDOC",
        ] {
            if !(variable == "RUSTUP_TOOLCHAIN" && env::var_os("RUSTC").as_deref() == Some(self.rustc.as_os_str())) {
                cargo.env_remove(variable);
            }
        }
        let output = cargo.output().with_context(|| format!("cannot run {}", self.cargo.display()))?;
        ensure!(
            output.status.success(),
            "the guest {} does not compile:\n{}",
            guest.package,
            String::from_utf8_lossy(&output.stderr)
        );
        let folder = target_dir.join(TARGET).join(PROFILE);
        Ok(match guest.example {
            Some(example) => folder.join("examples").join(format!("{example}.wasm")),
            None => folder.join(format!("{}.wasm", guest.package.replace('-', "_"))),
        })
    }
}

/// Names every source file of a core module to the outer cargo, from the list that the inner one wrote.
fn rebuild_when_sources_change(core: &Path) -> Result<()> {
    let list = core.with_extension("d");
    let text = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let (_, sources) = text.split_once(": ").with_context(|| format!("{} lists no sources", list.display()))?;
    for source in sources.replace("\\ ", "\0").split_whitespace() {
        println!("cargo::rerun-if-changed={}", source.replace('\0', " "));
    }
    Ok(())
}
