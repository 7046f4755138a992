//! A browser, driven through WebDriver (<https://www.w3.org/TR/webdriver2/>) with a few lines of HTTP.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

/// Longer than any answer of a page from a file takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with a profile of its own. It ends with this value.
pub struct Driver {
    process: Child,
    port: u16,
    session: String,
}

impl Driver {
    pub fn start() -> Self {
        let mut process = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("chromedriver does not start: {error}; install chromium and chromium-driver")
            });
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let port = lines.map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse().ok()
        });
        let mut driver = Driver {
            process,
            port: port.expect("chromedriver names its port"),
            session: String::new(),
        };
        // Tests run as root in containers, where the sandbox does not start.
        let options =
            json!({"args": ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]});
        let wanted = json!({
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"},
        });
        let wanted = json!({"capabilities": {"alwaysMatch": wanted}});
        let session = driver.send("POST", "/session", &wanted);
        session["sessionId"]
            .as_str()
            .unwrap()
            .clone_into(&mut driver.session);
        driver
    }

    /// The value of a command of the session.
    pub fn ask(&self, command: &str, words: &Value) -> Value {
        self.send("POST", &format!("/session/{}/{command}", self.session), words)
    }

    fn send(&self, method: &str, path: &str, words: &Value) -> Value {
        let mut answer = self.exchange(method, path, words).unwrap();
        assert!(answer["value"]["error"].is_null(), "{path}: {answer}");
        answer["value"].take()
    }

    fn exchange(&self, method: &str, path: &str, words: &Value) -> io::Result<Value> {
        let body = words.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            self.port,
            body.len()
        )?;
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line)?;
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        answer.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // The end of its session ends the browser. A test that fails has told why already.
        drop(self.exchange("DELETE", &format!("/session/{}", self.session), &json!({})));
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
