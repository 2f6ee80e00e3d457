//! A server on the loopback interface that answers as it is told.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;

use serde_json::Value;
use tokio::sync::oneshot;

/// What the server does with one request.
pub enum Reply {
    /// Answers it with this text, from the status line on.
    Send(String),
    /// Sends this text and says nothing more; tells when the client has closed the connection.
    Hang(String, oneshot::Sender<()>),
    /// Closes the connection.
    Close,
}

/// What a client sent.
#[derive(Debug)]
pub struct Request {
    /// Method and path.
    pub line: String,
    /// As sent, with the names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

pub struct Server {
    pub url: String,
    requests: mpsc::Receiver<Request>,
}

impl Server {
    /// Serves one reply for each connection, in order, and then no more.
    pub fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (sender, requests) = mpsc::channel();
        std::thread::spawn(move || {
            for reply in replies {
                let (stream, _) = listener.accept().unwrap();
                let _ = sender.send(read(&stream));
                act(&stream, reply);
            }
        });
        Self { url, requests }
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.try_iter().collect()
    }
}

pub fn json(body: &Value) -> Reply {
    status("200 OK", "", &body.to_string())
}

/// An answer with more `headers`, each of which ends with a line break.
pub fn status(status: &str, headers: &str, body: &str) -> Reply {
    let length = body.len();
    Reply::Send(format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\
         {headers}\r\n{body}"
    ))
}

/// The start of an answer that streams, with `events` of which each is a block of lines.
pub fn events(events: &[&str]) -> String {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    events.iter().fold(head.to_owned(), |text, event| text + event + "\n\n")
}

fn read(stream: &TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    };
    let request_line = line();
    let mut headers = Vec::new();
    while let Some((name, value)) = line().split_once(": ") {
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").map_or("0", |(_, value)| value);
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    Request {
        line: request_line.trim_end_matches(" HTTP/1.1").to_owned(),
        headers,
        body: serde_json::from_slice(&body).unwrap(),
    }
}

fn act(mut stream: &TcpStream, reply: Reply) {
    match reply {
        Reply::Send(text) => stream.write_all(text.as_bytes()).unwrap(),
        Reply::Hang(text, closed) => {
            stream.write_all(text.as_bytes()).unwrap();
            let _ = stream.read(&mut [0]);
            let _ = closed.send(());
        }
        Reply::Close => {}
    }
}
