//! `page --open`: the server that hands a page out, on the loopback alone.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::project::root;
use crate::written_page::runs;

/// The program as it serves, and where.
struct Serving(Child, String);

impl Serving {
    fn begin(args: &[&str]) -> Self {
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("trapcheck"))
            .current_dir(root())
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("serving http://").and_then(|rest| rest.split_once('/'));
        let address = address.unwrap_or_else(|| panic!("{line}")).0.to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{address}");
        Self(child, address)
    }

    /// Head and body of the answer to a request line.
    fn ask(&self, request: &str, host: &str) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.1).unwrap();
        write!(stream, "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
        (String::from_utf8_lossy(&answer[..end]).into_owned(), answer[end + 4..].to_vec())
    }

    /// An interrupt, as from the keyboard.
    fn stop(mut self) -> Option<i32> {
        let id = self.0.id().to_string();
        let kill = std::process::Command::new("kill").args(["-s", "INT", &id]).status();
        assert!(kill.unwrap().success());
        self.0.wait().unwrap().code()
    }
}

#[test]
fn a_page_is_served_on_the_loopback_with_its_types_and_nothing_else_is() {
    let folder = TempDir::new().unwrap();
    let page = folder.path().join("page");
    fs::create_dir_all(page.join("data")).unwrap();
    fs::write(folder.path().join("secret"), "not of the page").unwrap();
    for (name, text) in
        [("index.html", "<p>a page"), ("trapcheck.wasm", "\0asm"), ("data/index.json", "{}")]
    {
        fs::write(page.join(name), text).unwrap();
    }
    let serving = Serving::begin(&["page", "--no-browser", "--open", &page.display().to_string()]);
    let host = serving.1.clone();
    let (head, body) = serving.ask("GET /", &host);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(head.contains("Content-Type: text/html; charset=utf-8"), "{head}");
    assert_eq!(body, b"<p>a page");
    let (head, _) = serving.ask("GET /trapcheck.wasm?x", &host);
    assert!(head.contains("Content-Type: application/wasm"), "{head}");
    let (head, body) = serving.ask("HEAD /data/index.json", &host);
    assert!(head.contains("application/json") && body.is_empty(), "{head}");
    for elsewhere in ["/../secret", "/%2e%2e/secret", "/data/../../secret", "//secret", "/data/"] {
        let (head, body) = serving.ask(&format!("GET {elsewhere}"), &host);
        assert!(head.starts_with("HTTP/1.1 404"), "{elsewhere}: {head}");
        assert!(!body.windows(3).any(|w| w == b"not"), "{elsewhere}");
    }
    assert!(serving.ask("POST /", &host).0.starts_with("HTTP/1.1 405"));
    assert!(serving.ask("GET /", "rebound.example").0.starts_with("HTTP/1.1 403"));
    assert_eq!(serving.stop(), Some(0));
}

#[test]
fn runs_are_made_into_a_page_in_memory_and_served() {
    let run = runs()[0].clone();
    let serving = Serving::begin(&["page", &run, "--no-cache", "--no-browser", "--open"]);
    let host = serving.1.clone();
    let (_, index) = serving.ask("GET /data/index.json", &host);
    let index: Value = serde_json::from_slice(&index).unwrap();
    assert_eq!(index["runs"]["engine"], 1);
    let (head, svg) = serving.ask("GET /data/figures/theorem.svg", &host);
    assert!(head.contains("image/svg+xml") && svg.starts_with(b"<svg"), "{head}");
    assert_eq!(serving.stop(), Some(0));
}
