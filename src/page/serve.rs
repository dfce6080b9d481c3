//! A static server for a page: on the loopback, for GET and HEAD, of files that it knows by name.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use tiny_http::{Header, Method, Request, Response};
use walkdir::WalkDir;

use super::{Files, PageError};
use crate::files::FileError;

/// What is served.
#[derive(Debug)]
pub enum Content {
    /// A page in memory.
    Made(Files),
    /// The files of a folder by their path in it, as they were when the server began; read when
    /// they are asked for.
    Folder(BTreeMap<String, PathBuf>),
}

/// An answer: its status, what kind of text it is, its bytes.
type Answer<'a> = (u16, &'static str, Cow<'a, [u8]>);

const TEXT: &str = "text/plain; charset=utf-8";

impl Content {
    /// The regular files of a folder. Links are not followed, hidden files not served.
    ///
    /// # Errors
    /// It has no `index.html`.
    pub fn of_folder(folder: &Path) -> Result<Self, PageError> {
        let is_hidden = |entry: &walkdir::DirEntry| {
            entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".")
        };
        let entries = WalkDir::new(folder).into_iter().filter_entry(|entry| !is_hidden(entry));
        let files: BTreeMap<String, PathBuf> = entries
            .flatten()
            .filter(|entry| entry.file_type().is_file())
            .filter_map(|entry| {
                let place = entry.path().strip_prefix(folder).ok()?;
                let names: Option<Vec<&str>> = place.iter().map(|name| name.to_str()).collect();
                Some((names?.join("/"), entry.path().to_owned()))
            })
            .collect();
        match files.contains_key("index.html") {
            true => Ok(Self::Folder(files)),
            false => {
                let why = "expected a page with an index.html; trapcheck page --out writes one";
                Err(FileError::new(folder, why).into())
            }
        }
    }

    /// The bytes of a file by its exact name.
    fn bytes(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Made(files) => files.get(name).map(|bytes| bytes.as_slice().into()),
            Self::Folder(files) => crate::reading::bytes(files.get(name)?).ok().map(Cow::Owned),
        }
    }

    /// What is said to a request. `host` is what its sender took this server for: a page of
    /// another site that has its name point here gets nothing.
    fn answer(&self, method: &Method, url: &str, host: Option<&str>) -> Answer<'_> {
        let said = |status: u16, text: &'static str| (status, TEXT, text.as_bytes().into());
        let name = host.map(|host| host.rsplit_once(':').map_or(host, |(name, _)| name));
        if name.is_some_and(|name| !["127.0.0.1", "localhost"].contains(&name)) {
            return said(403, "only this machine is served\n");
        }
        if !matches!(method, Method::Get | Method::Head) {
            return said(405, "only GET and HEAD are answered\n");
        }
        let path = url.split(['?', '#']).next().unwrap_or_default();
        let name = match path.strip_prefix('/') {
            Some("") => "index.html",
            Some(name) => name,
            None => return said(400, "expected a path\n"),
        };
        match self.bytes(name) {
            Some(bytes) => (200, kind_of(name), bytes),
            None => said(404, "no such file in this page\n"),
        }
    }
}

/// The media type of a file, by how its name ends.
fn kind_of(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "wasm" => "application/wasm",
        "woff2" => "font/woff2",
        "txt" => TEXT,
        _ => "application/octet-stream",
    }
}

/// A server that has its address.
pub struct Server {
    server: tiny_http::Server,
    content: Content,
}

impl Server {
    /// Takes a port of the loopback; any free one for 0.
    ///
    /// # Errors
    /// It cannot be had.
    pub fn open(content: Content, port: u16) -> Result<Self, PageError> {
        let server = tiny_http::Server::http((Ipv4Addr::LOCALHOST, port))
            .map_err(|error| PageError::Address { port, error })?;
        Ok(Self { server, content })
    }

    /// Where it is reached.
    pub fn address(&self) -> Option<SocketAddr> {
        self.server.server_addr().to_ip()
    }

    /// Answers until [`Self::stop`].
    pub fn run(&self) {
        for request in self.server.incoming_requests() {
            self.respond(request);
        }
    }

    /// Ends [`Self::run`] after the request in hand.
    pub fn stop(&self) {
        self.server.unblock();
    }

    fn respond(&self, request: Request) {
        let host = request.headers().iter().find(|header| header.field.equiv("Host"));
        let host = host.map(|header| header.value.as_str().to_owned());
        let (status, kind, bytes) =
            self.content.answer(request.method(), request.url(), host.as_deref());
        let mut response = Response::from_data(bytes.into_owned())
            .with_status_code(status)
            // With its length, so that a reader can say how far a load is.
            .with_chunked_threshold(usize::MAX);
        let headers = [
            ("Content-Type", kind),
            ("Cache-Control", "no-cache"),
            ("X-Content-Type-Options", "nosniff"),
        ];
        for (name, value) in headers {
            Header::from_bytes(name, value)
                .into_iter()
                .for_each(|header| response.add_header(header));
        }
        // Who has gone does not need an answer.
        drop(request.respond(response));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content() -> Content {
        let files = [("index.html", "<p>"), ("trapcheck.wasm", "w"), ("data/index.json", "{}")];
        let owned = files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
        Content::Made(owned.into())
    }

    fn get(url: &str) -> (u16, &'static str) {
        let content = content();
        let (status, kind, _) = content.answer(&Method::Get, url, Some("127.0.0.1:80"));
        (status, kind)
    }

    #[test]
    fn files_are_known_by_their_exact_names_and_have_their_types() {
        assert_eq!(get("/"), (200, "text/html; charset=utf-8"));
        assert_eq!(get("/?x=1"), (200, "text/html; charset=utf-8"));
        assert_eq!(get("/trapcheck.wasm"), (200, "application/wasm"));
        assert_eq!(get("/data/index.json"), (200, "application/json"));
        for elsewhere in [
            "/none",
            "/../index.html",
            "//index.html",
            "/data/../index.html",
            "/%2e%2e/index.html",
            "/data",
            "/data/",
        ] {
            assert_eq!(get(elsewhere).0, 404, "{elsewhere}");
        }
        assert_eq!(get("http://elsewhere/").0, 400);
    }

    #[test]
    fn only_this_machine_is_answered_and_only_reading() {
        let content = content();
        let status = |method, host| content.answer(&method, "/", host).0;
        assert_eq!(status(Method::Get, None), 200);
        assert_eq!(status(Method::Head, Some("localhost:8000")), 200);
        assert_eq!(status(Method::Get, Some("rebound.example:8000")), 403);
        assert_eq!(status(Method::Post, Some("localhost")), 405);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_folder_is_not_served() {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page");
        std::fs::create_dir(&page).unwrap();
        assert!(Content::of_folder(&page).is_err());
        std::fs::write(page.join("index.html"), "<p>").unwrap();
        std::fs::write(folder.path().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), page.join("link")).unwrap();
        std::fs::write(page.join(".hidden"), "h").unwrap();
        let content = Content::of_folder(&page).unwrap();
        let Content::Folder(files) = &content else { panic!("a folder") };
        assert_eq!(files.keys().collect::<Vec<_>>(), ["index.html"]);
    }
}
