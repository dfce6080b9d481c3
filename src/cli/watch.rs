//! `trapcheck watch`: is the engine trapped now, scrape by scrape.

use std::io::Read;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use anyhow::bail;

use trapcheck::observed::watch::Watch;
use trapcheck::reading::Bounded;

use super::diagnose::{About, exit_code};
use super::output;

/// Poll a /metrics endpoint and say whether its engines are trapped
///
/// One line per engine and scrape, the same words as `diagnose`. Plain http only: put a tunnel
/// or a proxy before an endpoint that speaks https. With --serve the answers are metrics
/// themselves, for Prometheus to scrape and to alert on (docs/diagnose.md has a rule and a
/// panel).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck watch http://127.0.0.1:8000/metrics
  trapcheck watch http://127.0.0.1:8000/metrics --every 30 --serve
  trapcheck watch http://127.0.0.1:8000/metrics --every 60 --count 3     from cron

Exit codes: 0 good, cold, or a queue or misses alone, by the last of --count scrapes; \
                         1 trapped or pressed; 2 it cannot be told, that scrape failed, or bad usage")]
pub struct Args {
    /// Where the metrics are
    #[arg(value_name = "URL")]
    url: String,
    /// Seconds between two scrapes
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    every: f64,
    /// How many scrapes; without it until it is stopped
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// How far back it is judged, s
    #[arg(long, value_name = "SECONDS", default_value_t = 1800.0)]
    window: f64,
    /// Serve the answers as metrics at this address or port; 127.0.0.1:9469 unless given
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "9469")]
    serve: Option<String>,
    #[command(flatten)]
    about: About,
}

/// Bytes of a scrape at most.
const MOST: u64 = 64 << 20;
/// How long a scrape may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs the command.
///
/// # Errors
/// A URL that is none, thresholds that cannot be used, an address that is taken.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let positive = |x: f64| x > 0.0 && x < 1e6;
    if !positive(args.every) || !positive(args.window) {
        bail!("--every and --window: expected a positive number of seconds");
    }
    if !args.url.starts_with("http://") {
        bail!("{}: expected http://HOST:PORT/metrics (plain http only)", args.url);
    }
    let served = args.serve.as_deref().map(serve).transpose()?;
    let mut watch = Watch::new(args.about.ask()?, args.about.thresholds()?, args.window);
    let agent = ureq::Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .max_redirects(0)
        .proxy(None)
        .build()
        .new_agent();
    let every = Duration::from_secs_f64(args.every);
    let mut next = Instant::now();
    for i in 0_u64.. {
        if args.count.is_some_and(|count| i >= count) {
            break;
        }
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
        // A scrape that took longer than the time between two is not made up for.
        next = (next + every).max(Instant::now());
        let at_s = unix_s();
        match fetched(&agent, &args.url) {
            Ok(text) => match watch.scraped(at_s, &text) {
                Ok(_) => output::show(&output::lines(watch.lines(at_s)))?,
                Err(e) => eprintln!("{}: {e}", args.url),
            },
            Err(e) => {
                watch.failed();
                eprintln!("{}: {e:#}", args.url);
            }
        }
        if let Some(served) = &served {
            *served.lock().unwrap_or_else(PoisonError::into_inner) = watch.metrics(at_s);
        }
    }
    Ok(exit_code(watch.verdicts()))
}

fn unix_s() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}

fn fetched(agent: &ureq::Agent, url: &str) -> anyhow::Result<Vec<u8>> {
    let mut answer = agent.get(url).call()?;
    if answer.status().is_redirection() {
        bail!("it points elsewhere (status {}): give that address", answer.status().as_u16());
    }
    let mut text = Vec::new();
    Bounded::new(answer.body_mut().as_reader(), MOST).read_to_end(&mut text)?;
    Ok(text)
}

/// Serves a text from now on; what is put there is what the next reader gets.
fn serve(asked: &str) -> anyhow::Result<Arc<Mutex<String>>> {
    let on_loopback = || format!("127.0.0.1:{asked}").parse::<SocketAddr>().ok();
    let Some(address) = asked.parse::<SocketAddr>().ok().or_else(on_loopback) else {
        bail!("--serve {asked}: expected a port, or an address as 127.0.0.1:9469");
    };
    let server = match tiny_http::Server::http(address) {
        Ok(server) => server,
        Err(e) => bail!("--serve {address}: {e}"),
    };
    eprintln!("serving http://{}/metrics", server.server_addr());
    if !address.ip().is_loopback() {
        eprintln!("warning: {address} can be read from other machines");
    }
    let text = Arc::new(Mutex::new("trapcheck_up 0\n".to_owned()));
    let shared = Arc::clone(&text);
    std::thread::spawn(move || {
        for request in server.incoming_requests() {
            let wanted = request.url() == "/metrics" && *request.method() == tiny_http::Method::Get;
            let (status, body) = if wanted {
                (200, shared.lock().unwrap_or_else(PoisonError::into_inner).clone())
            } else {
                (404, "only GET /metrics is here\n".to_owned())
            };
            let plain = tiny_http::Header::from_bytes("Content-Type", "text/plain; version=0.0.4");
            let mut answer = tiny_http::Response::from_string(body).with_status_code(status);
            plain.into_iter().for_each(|header| answer.add_header(header));
            // Who has gone does not need an answer.
            drop(request.respond(answer));
        }
    });
    Ok(text)
}
