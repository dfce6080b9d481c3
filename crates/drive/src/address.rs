//! Where an engine is, and the key it may ask for.

use std::net::{SocketAddr, ToSocketAddrs};

use hyper::Uri;
use hyper::header::HeaderValue;

/// An engine's address: the only one that is ever connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Host and port as they were given, for the `Host` header.
    pub host: String,
    /// What comes before each path, without a slash at its end.
    pub prefix: String,
    /// What the host's name stood for when it was looked up, once.
    pub at: SocketAddr,
}

/// An address that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// No URL of the form that is understood.
    #[error("expected a URL such as http://127.0.0.1:8000, found {0}")]
    NoUrl(String),
    /// TLS.
    #[error(
        "https is not spoken here: expected http://, to the engine itself or to a tunnel that \
         speaks TLS"
    )]
    Tls,
    /// A password in the URL would be in every process list.
    #[error("a URL with a user or password: give a key by --api-key-env")]
    Secret,
    /// A host that is not there.
    #[error("{host}: no such host: {why}")]
    NoHost {
        /// Host and port.
        host: String,
        /// What the system says.
        why: String,
    },
}

impl Address {
    /// Parses a URL and looks its host up.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn parse(url: &str) -> Result<Self, AddressError> {
        if url.contains('@') {
            return Err(AddressError::Secret);
        }
        let no_url = || AddressError::NoUrl(url.escape_debug().take(100).collect());
        let uri: Uri = url.parse().map_err(|_| no_url())?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(AddressError::Tls),
            _ => return Err(no_url()),
        }
        let name = uri.host().filter(|host| !host.is_empty()).ok_or_else(no_url)?;
        if uri.query().is_some() {
            return Err(no_url());
        }
        let host = format!("{name}:{}", uri.port_u16().unwrap_or(80));
        let no_host = |why: String| AddressError::NoHost { host: host.clone(), why };
        let found = host.to_socket_addrs().map_err(|e| no_host(e.to_string()))?.next();
        let at = found.ok_or_else(|| no_host("it has no address".into()))?;
        Ok(Self { prefix: uri.path().trim_end_matches('/').to_owned(), at, host })
    }
}

/// An API key. Nothing prints it.
#[derive(Clone)]
pub struct ApiKey(String);

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiKey(withheld)")
    }
}

impl ApiKey {
    /// A key, if it can be sent at all: no line ends, nothing but visible ASCII.
    pub fn new(key: &str) -> Option<Self> {
        let key = key.trim();
        (!key.is_empty() && key.bytes().all(|b| b.is_ascii_graphic())).then(|| Self(key.into()))
    }

    /// The value of the `Authorization` header.
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// A text that an engine gave, without the key should it be in there.
    pub(crate) fn withheld(&self, text: &str) -> String {
        text.replace(&self.0, "(key)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_host_port_and_prefix() {
        let address = Address::parse("http://127.0.0.1:8100/engine/").unwrap();
        assert_eq!(address.at, "127.0.0.1:8100".parse().unwrap());
        assert_eq!((&*address.host, &*address.prefix), ("127.0.0.1:8100", "/engine"));
        assert_eq!(Address::parse("http://[::1]").unwrap().at, "[::1]:80".parse().unwrap());
    }

    #[test]
    fn what_is_no_plain_http_url_is_refused() {
        let error = |url: &str| Address::parse(url).unwrap_err();
        assert_eq!(error("https://127.0.0.1"), AddressError::Tls);
        assert_eq!(error("http://me:secret@127.0.0.1"), AddressError::Secret);
        for url in ["", "127.0.0.1:8000", "ftp://127.0.0.1", "http://", "http://127.0.0.1/?q=1"] {
            assert!(matches!(error(url), AddressError::NoUrl(_)), "{url}");
        }
    }

    #[test]
    fn a_key_is_never_printed() {
        let key = ApiKey::new(" sk-secret-1\n").unwrap();
        assert_eq!(format!("{key:?}"), "ApiKey(withheld)");
        assert_eq!(key.withheld("model sk-secret-1"), "model (key)");
        assert!(!format!("{:?}", key.header().unwrap()).contains("secret"));
        assert!(ApiKey::new("two\nlines").is_none() && ApiKey::new(" ").is_none());
    }
}
