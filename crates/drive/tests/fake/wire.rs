//! Requests and answers as they go over a connection.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};

pub fn chunk(stream: &mut TcpStream, text: &str) -> std::io::Result<()> {
    let framed = format!("{:x}\r\n{text}\r\n", text.len());
    stream.write_all(framed.as_bytes())
}

pub fn plain(mut stream: TcpStream, status: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    let text =
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
    stream.write_all(text.as_bytes())
}

/// An answer of metrics without an end, until nobody takes more of it; `most` is how much somebody
/// took.
pub fn pour(stream: &mut TcpStream, prefix: &str, most: &AtomicUsize) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\n\r\n")?;
    let lines = format!("{prefix}:num_requests_running{{engine=\"0\"}} 1.0\n").repeat(1000);
    for number in 1.. {
        stream.write_all(lines.as_bytes())?;
        most.fetch_max(number * lines.len(), Ordering::SeqCst);
    }
    Ok(())
}

pub fn read_request(stream: &mut TcpStream) -> std::io::Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 65_536];
    loop {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
            });
            let length: usize = length.unwrap_or(0);
            let mut body = bytes.split_off(end + 4);
            while body.len() < length {
                match stream.read(&mut buffer)? {
                    0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                    n => body.extend_from_slice(&buffer[..n]),
                }
            }
            return Ok((head, body));
        }
        match stream.read(&mut buffer)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            n => bytes.extend_from_slice(&buffer[..n]),
        }
    }
}
