//! One page of the program, open in a browser.

use std::{collections::BTreeSet, fs, process::Command};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::driver::Driver;

pub struct Page {
    driver: Driver,
    url: String,
    /// Holds the file while the page is open.
    _folder: TempDir,
}

impl Page {
    /// What the program prints with these words.
    pub fn of(words: &[&str]) -> Self {
        let output = Command::new(env!("CARGO_BIN_EXE_kubectl-finalizers"))
            .args(words)
            .env("KUBECONFIG", "/nonexistent")
            .env("XDG_CONFIG_HOME", "/nonexistent")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("page.html");
        fs::write(&file, output.stdout).unwrap();
        let driver = Driver::start();
        let url = format!("file://{}", file.to_str().unwrap());
        driver.ask("url", &json!({"url": url}));
        Self {
            driver,
            url,
            _folder: folder,
        }
    }

    /// Its own address, as the only request.
    pub fn alone(&self) -> BTreeSet<String> {
        BTreeSet::from([self.url.clone()])
    }

    /// What a function with this body returns in the page.
    pub fn run(&self, body: &str) -> Value {
        self.driver
            .ask("execute/sync", &json!({"script": body, "args": []}))
    }

    /// Types these keys where the focus is.
    pub fn press(&self, keys: &str) {
        let strokes: Vec<_> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|what| json!({"type": what, "value": key.to_string()})))
            .collect();
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": strokes});
        self.driver.ask("actions", &json!({"actions": [keyboard]}));
    }

    /// Sets media and features of it, in the form of `Emulation.setEmulatedMedia`.
    pub fn emulate(&self, media: &Value) {
        let command = json!({"cmd": "Emulation.setEmulatedMedia", "params": media});
        self.driver.ask("goog/cdp/execute", &command);
    }

    /// Makes the window so many pixels wide.
    pub fn resize(&self, width: u32) {
        let size = json!({"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false});
        let command = json!({"cmd": "Emulation.setDeviceMetricsOverride", "params": size});
        self.driver.ask("goog/cdp/execute", &command);
    }

    /// The addresses that were asked for since this was asked last, without those that the policy of the page stopped.
    pub fn requests(&self) -> BTreeSet<String> {
        let events: Vec<Value> = self
            .log("performance")
            .iter()
            .filter_map(|entry| serde_json::from_str(entry["message"].as_str()?).ok())
            .map(|mut event: Value| event["message"].take())
            .collect();
        let of = |method: &'static str| events.iter().filter(move |event| event["method"] == method);
        let stopped: Vec<_> = of("Network.loadingFailed")
            .filter(|event| event["params"]["blockedReason"] == "csp")
            .map(|event| &event["params"]["requestId"])
            .collect();
        of("Network.requestWillBeSent")
            .map(|event| &event["params"])
            .filter(|request| !stopped.contains(&&request["requestId"]))
            .filter_map(|request| Some(request["request"]["url"].as_str()?.to_owned()))
            // The empty tab before it.
            .filter(|url| url != "data:,")
            .collect()
    }

    /// What the browser wrote to its console.
    pub fn complaints(&self) -> Vec<Value> {
        self.log("browser")
    }

    fn log(&self, kind: &str) -> Vec<Value> {
        let log = self.driver.ask("se/log", &json!({"type": kind}));
        serde_json::from_value(log).unwrap()
    }
}
