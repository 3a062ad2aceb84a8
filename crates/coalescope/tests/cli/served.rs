//! Commands that answer over HTTP until they are told to end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

pub(crate) fn program() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin("coalescope"))
}

/// A server at a port that was free.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn begin(mut command: Command, arguments: &[&str]) -> Self {
        let command = command.args(arguments).args(["--listen", "127.0.0.1:0"]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = lines.next().expect("it listens").unwrap();
            if let Some(rest) = line.strip_prefix("listening: http://") {
                break rest.split('/').next().unwrap().to_owned();
            }
        };
        // Whoever writes to a pipe that nobody reads is killed.
        thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    /// Sends bytes, and reads the answer to its end.
    pub(crate) fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    pub(crate) fn get(&self, path: &str) -> String {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"))
    }

    /// Told to end, it ends well.
    pub(crate) fn end(self) {
        self.end_by(Signal::TERM);
    }

    pub(crate) fn end_by(mut self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert_eq!(status.code(), Some(0));
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        self.child.kill().unwrap();
        assert!(begun.elapsed() < Duration::ZERO, "it goes on");
    }
}
