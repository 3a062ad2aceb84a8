//! `coalescope web`: the page that judges captures in a browser, for those who have the program.

mod folder;

use hyper::body::Incoming;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Request, StatusCode};

use crate::cli::WebArgs;
use crate::confine::{self, Needs};
use crate::interrupt::stop_on_signal;
use crate::serve::{self, Answer, said};
use crate::{Outcome, speech};
use folder::{File, Folder};

/// A newer page takes the place of an older one at once; what a file is, is said by its name; no address is told on; and the page
/// is apart from all others, so that its workers may share memory.
const HEADERS: [(HeaderName, &str); 5] = [
    (CACHE_CONTROL, "no-cache"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (OPENER_POLICY, "same-origin"),
    (EMBEDDER_POLICY, "require-corp"),
];
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const EMBEDDER_POLICY: HeaderName = HeaderName::from_static("cross-origin-embedder-policy");

pub(crate) fn run(args: &WebArgs) -> anyhow::Result<Outcome> {
    let folder = Folder::find(args.folder.as_deref())?;
    let stop = stop_on_signal()?;
    let listener = serve::listen(args.listen)?;
    let address = listener.local_addr()?;
    confine::enter(&Needs::default().and_folder(folder.path()));
    speech::tell(&format!("listening: http://{address}/"));
    serve::serve(listener, &stop, move |request| answer(request, &folder))?;
    Ok(Outcome::Done)
}

fn answer(request: &Request<Incoming>, folder: &Folder) -> Answer {
    let Some(file) = folder.file(request.uri().path()) else {
        let text = "text/plain; charset=utf-8";
        return said(StatusCode::NOT_FOUND, text, "the page is at /\n");
    };
    let File {
        form,
        bytes,
        policy,
    } = file;
    let mut answer = said(StatusCode::OK, form, bytes);
    let headers = answer.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}
