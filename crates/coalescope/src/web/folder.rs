//! The folder that `scripts/web` wrote: files side by side, and nothing beneath or outside of it.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hyper::header::HeaderValue;

/// Media types by file extension.
const FORMS: [(&str, &str); 3] = [
    ("html", "text/html; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
];
/// The page, and its engine, which only a built page has.
const INDEX: &str = "index.html";
const ENGINE: &str = "engine.js";
/// The service worker, which fetches the page's own files to store them, and may do no more.
const KEEPER: &str = "offline.js";
/// The text before and after the policy in the page.
const POLICY: (&str, &str) = ("http-equiv=\"Content-Security-Policy\" content=\"", "\"");
/// Folders beside the program, and where packages install the page.
const PLACES: [&str; 2] = ["coalescope-web", "../share/coalescope/web"];
const HOW: &str = "scripts/web DIR of coalescope's source builds it; then give --folder DIR";

/// Why there is no page to serve.
#[derive(Debug, thiserror::Error)]
pub(super) enum FolderError {
    /// There is no folder.
    #[error("the page was not installed with this program (looked for {looked}): {HOW}")]
    Nowhere {
        /// Folders.
        looked: String,
    },
    /// A file of the page is missing.
    #[error("cannot read {path}: {HOW}")]
    NotThere {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The folder has another page.
    #[error("{path} is not coalescope's page: {HOW}")]
    Another {
        /// The file.
        path: String,
    },
}

/// A built page.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    policy: String,
}

/// A file of the page, as sent.
pub(super) struct File {
    /// Its media type.
    pub(super) form: &'static str,
    /// Its contents.
    pub(super) bytes: Vec<u8>,
    /// Its Content-Security-Policy. A worker has the policy of its own file, and not that of the page.
    pub(super) policy: HeaderValue,
}

impl Folder {
    /// The given folder, or the installed one.
    pub(super) fn find(given: Option<&Path>) -> Result<Self, FolderError> {
        let places = places();
        let found = given.or_else(|| {
            let mut places = places.iter();
            places
                .find(|place| place.join(INDEX).exists())
                .map(PathBuf::as_path)
        });
        let looked = || places.iter().map(|place| shown(place)).collect::<Vec<_>>();
        found.map_or_else(
            || {
                Err(FolderError::Nowhere {
                    looked: looked().join(", "),
                })
            },
            Self::open,
        )
    }

    fn open(path: &Path) -> Result<Self, FolderError> {
        let not_there = |path: &Path| {
            let path = shown(path);
            move |source| FolderError::NotThere { path, source }
        };
        let path = path.canonicalize().map_err(not_there(path))?;
        let (index, engine) = (path.join(INDEX), path.join(ENGINE));
        let page = fs::read_to_string(&index).map_err(not_there(&index))?;
        fs::metadata(&engine).map_err(not_there(&engine))?;
        let policy = policy(&page).ok_or_else(|| FolderError::Another {
            path: shown(&index),
        })?;
        let policy = policy.to_owned();
        Ok(Self { path, policy })
    }

    /// The path of the folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A file by the path of a request; `None` if it is not part of the page.
    pub(super) fn file(&self, asked: &str) -> Option<File> {
        let name = name(asked)?;
        let form = form(name)?;
        // A symbolic link might lead out of the folder.
        let path = self.path.join(name).canonicalize().ok()?;
        if path.parent() != Some(&self.path) || !path.is_file() {
            return None;
        }
        let policy = HeaderValue::from_str(&self.policy_of(name)).ok()?;
        let bytes = fs::read(path).ok()?;
        Some(File {
            form,
            bytes,
            policy,
        })
    }

    fn policy_of(&self, name: &str) -> String {
        match name {
            KEEPER => self
                .policy
                .replace("connect-src 'none'", "connect-src 'self'"),
            _ => self.policy.clone(),
        }
    }
}

/// Parses `/NAME`: letters, digits, dots and dashes, beginning with a letter or digit.
fn name(asked: &str) -> Option<&str> {
    let name = match asked.strip_prefix('/')? {
        "" => INDEX,
        name => name,
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
    let is_name = name.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    (is_name && name.chars().all(is_plain)).then_some(name)
}

fn form(name: &str) -> Option<&'static str> {
    let (_, end) = name.rsplit_once('.')?;
    let found = FORMS.iter().find(|(known, _)| *known == end);
    found.map(|(_, form)| *form)
}

fn policy(page: &str) -> Option<&str> {
    let (_, rest) = page.split_once(POLICY.0)?;
    rest.split_once(POLICY.1).map(|(policy, _)| policy)
}

fn places() -> Vec<PathBuf> {
    let program = env::current_exe().unwrap_or_default();
    let beside = program.parent().unwrap_or(Path::new("."));
    PLACES.iter().map(|place| beside.join(place)).collect()
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
