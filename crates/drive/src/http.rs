//! One request on a connection of its own. A connection is not kept: one that the server has
//! closed meanwhile would fail a turn, and no turn is sent twice.

use std::io::ErrorKind;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::address::{Address, ApiKey};
use crate::fault::Fault;

/// How long a connection may take to come about, s.
const CONNECT_S: u64 = 30;

/// The most bytes of a head, and of what is read at once.
const HEAD_BYTES: usize = 64 << 10;

/// The most header lines.
const HEADERS: usize = 100;

/// Where requests go.
#[derive(Debug, Clone)]
pub struct Http {
    address: Address,
    key: Option<ApiKey>,
}

impl Http {
    /// Requests to this address, with this key.
    pub fn new(address: Address, key: Option<ApiKey>) -> Self {
        Self { address, key }
    }

    /// The address.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// A text that the engine gave, fit to be kept: short, printable, without the key.
    pub fn kept(&self, text: &str) -> String {
        let text = self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.withheld(text));
        text.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(200).collect()
    }

    /// Sends a request and waits for the head of its answer; `body` is JSON.
    ///
    /// # Errors
    /// No connection, no HTTP, or a redirect.
    pub async fn send(&self, method: Method, path: &str, body: Bytes) -> Result<Answer, Fault> {
        let connecting =
            timeout(Duration::from_secs(CONNECT_S), TcpStream::connect(self.address.at));
        let stream = connecting.await.map_err(|_| Fault::Connect("timeout"))?;
        let stream = stream.map_err(|e| Fault::Connect(word(e.kind())))?;
        // Without it the end of a prompt would wait for an acknowledgement.
        let _ = stream.set_nodelay(true);
        let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
            .max_buf_size(HEAD_BYTES)
            .max_headers(HEADERS)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|e| fault(&e))?;
        // It sends and receives until the answer is read, or dropped.
        let connection = Connection(tokio::spawn(async move { drop(connection.await) }));
        let request = self.request(method, path, body)?;
        let answer = sender.send_request(request).await.map_err(|e| fault(&e))?;
        let status = answer.status().as_u16();
        if answer.status().is_redirection() {
            return Err(Fault::Redirect(status));
        }
        Ok(Answer { status, body: answer.into_body(), read: 0, _connection: connection })
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<Request<Full<Bytes>>, Fault> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.address.prefix))
            .header(HOST, &self.address.host)
            .header(CONNECTION, "close")
            .header(CONTENT_TYPE, "application/json");
        if let Some(value) = self.key.as_ref().and_then(ApiKey::header) {
            request = request.header(AUTHORIZATION, value);
        }
        request.body(Full::new(body)).map_err(|_| Fault::NotHttp)
    }
}

/// The answer to a request; dropped, its connection is closed.
#[derive(Debug)]
pub struct Answer {
    /// The status, below 300 or from 400 on.
    pub status: u16,
    body: Incoming,
    read: u64,
    _connection: Connection,
}

impl Answer {
    /// The next piece of the body, of at most `most` bytes in all; `None` at its end.
    ///
    /// # Errors
    /// The connection broke, or the body is longer.
    pub async fn piece(&mut self, most: u64) -> Result<Option<Bytes>, Fault> {
        while let Some(frame) = self.body.frame().await {
            let Ok(bytes) = frame.map_err(|e| fault(&e))?.into_data() else { continue };
            self.read += bytes.len() as u64;
            if self.read > most {
                return Err(Fault::TooLarge(most));
            }
            return Ok(Some(bytes));
        }
        Ok(None)
    }

    /// The whole body, of at most `most` bytes.
    ///
    /// # Errors
    /// As [`Answer::piece`].
    pub async fn whole(mut self, most: u64) -> Result<Vec<u8>, Fault> {
        let mut whole = Vec::new();
        while let Some(bytes) = self.piece(most).await? {
            whole.extend_from_slice(&bytes);
        }
        Ok(whole)
    }
}

/// A connection's task; it ends with its answer.
#[derive(Debug)]
struct Connection(JoinHandle<()>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

const fn word(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::ConnectionRefused => "refused",
        ErrorKind::ConnectionReset => "reset",
        ErrorKind::TimedOut => "timeout",
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => "unreachable",
        ErrorKind::AddrInUse | ErrorKind::AddrNotAvailable => "no local port is free",
        _ => "the system refused it",
    }
}

fn fault(error: &hyper::Error) -> Fault {
    if error.is_parse() { Fault::NotHttp } else { Fault::Broken }
}
