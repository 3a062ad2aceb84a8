//! `coalescope web`: the page is sent to a browser, and nothing else of this machine.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::common::{coalescope, stderr};
use crate::served::{Server, program};

const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'none'";
const SECRET: &str = "nobody is told";

/// What `scripts/web` writes, in small, with a secret above it, beneath it, and by links.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let page = folder.path().join("page");
    fs::create_dir_all(page.join("sub")).unwrap();
    let write = |name: &str, text: &str| fs::write(page.join(name), text).unwrap();
    let meta = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">");
    write("index.html", &meta);
    write("style.css", "p { color: red }");
    for name in ["engine.js", "main.js", "offline.js"] {
        write(name, "// a script");
    }
    for name in [
        "../secret.js",
        ".hidden.js",
        "sub/deep.js",
        "notes.txt",
        "key",
    ] {
        write(name, SECRET);
    }
    symlink("../secret.js", page.join("link.js")).unwrap();
    symlink("..", page.join("up.js")).unwrap();
    folder
}

fn served(folder: &TempDir) -> Server {
    let page = folder.path().join("page");
    Server::begin(program(), &["web", "--folder", page.to_str().unwrap()])
}

#[test]
fn the_page_is_sent_with_what_it_may_do() {
    let folder = folder();
    let server = served(&folder);
    for (path, form) in [
        ("/", "text/html; charset=utf-8"),
        ("/index.html", "text/html; charset=utf-8"),
        ("/main.js?1", "text/javascript; charset=utf-8"),
        ("/style.css", "text/css; charset=utf-8"),
    ] {
        let answer = server.get(path);
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        for header in [
            format!("content-type: {form}"),
            format!("content-security-policy: {POLICY}"),
            "x-content-type-options: nosniff".to_owned(),
            "cross-origin-opener-policy: same-origin".to_owned(),
            "cross-origin-embedder-policy: require-corp".to_owned(),
        ] {
            assert!(answer.contains(&format!("{header}\r\n")), "{answer}");
        }
    }
    assert!(server.get("/").ends_with("\">"));
    // What keeps the page for later fetches its files, and nothing else may.
    let keeper = server.get("/offline.js");
    assert!(keeper.contains("connect-src 'self'\r\n"), "{keeper}");
    let head = server.ask("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
    let post = server.ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    assert!(post.starts_with("HTTP/1.1 405 "), "{post}");
    server.end_by(Signal::INT);
}

#[test]
fn nothing_outside_of_the_page_is_sent() {
    let folder = folder();
    let server = served(&folder);
    for path in [
        "/../secret.js",
        "/%2e%2e/secret.js",
        "/..%2fsecret.js",
        "/..\\secret.js",
        "http://x/../secret.js",
        "//etc/passwd",
        "/page/../../secret.js",
        "/sub/deep.js",
        "/sub%2fdeep.js",
        "/.hidden.js",
        "/notes.txt",
        "/key",
        "/link.js",
        "/up.js",
        "/sub",
        "/main.js/",
        "/main.js%00",
    ] {
        let answer = server.get(path);
        assert!(answer.starts_with("HTTP/1.1 4"), "{path}: {answer}");
        assert!(!answer.contains(SECRET), "{path}: {answer}");
    }
    server.end();
}

#[test]
fn a_folder_that_is_no_page_is_refused_with_what_to_do() {
    let folder = folder();
    let empty = folder.path().join("page/sub");
    let unbuilt = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/page");
    let another = folder.path().join("another");
    fs::create_dir(&another).unwrap();
    for name in ["index.html", "engine.js"] {
        fs::write(another.join(name), "<p>something else").unwrap();
    }
    for (folder, why) in [
        (empty, "index.html"),
        (unbuilt, "engine.js"),
        (folder.path().join("nowhere"), "nowhere"),
        (another, "is not coalescope's page"),
    ] {
        let output = coalescope()
            .arg("web")
            .arg("--folder")
            .arg(&folder)
            .output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = stderr(&output);
        assert!(said.contains(why) && said.contains("scripts/web"), "{said}");
    }
}

#[test]
fn without_a_folder_the_one_beside_the_program_is_served() {
    let folder = folder();
    let own = folder.path().join("bin");
    fs::create_dir(&own).unwrap();
    let copy = own.join("coalescope");
    let program = assert_cmd::cargo::cargo_bin("coalescope");
    fs::hard_link(&program, &copy)
        .or_else(|_| fs::copy(&program, &copy).map(drop))
        .unwrap();
    let command = || std::process::Command::new(&copy);
    let output = command().arg("web").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.contains("coalescope-web") && said.contains("--folder"),
        "{said}"
    );
    fs::rename(folder.path().join("page"), own.join("coalescope-web")).unwrap();
    let server = Server::begin(command(), &["web"]);
    assert!(server.get("/style.css").ends_with("p { color: red }"));
    server.end();
}

#[test]
fn an_address_that_is_taken_is_named() {
    let folder = folder();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut command = coalescope();
    command.args(["web", "--listen", &address, "--folder"]);
    let output = command.arg(folder.path().join("page")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("cannot listen at"),
        "{}",
        stderr(&output)
    );
}
