//! Answers to requests for metrics.

use coalescope_report::Form;
use hyper::body::Incoming;
use hyper::header::ACCEPT;
use hyper::{Request, StatusCode};

use super::Exporter;
use crate::serve::{Answer, said};

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Prometheus's older text format.
const PLAIN: &str = "text/plain; version=0.0.4; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const START: &str =
    "<!doctype html><title>coalescope</title><p><a href=\"/metrics\">metrics</a></p>\n";

/// The answer to a request.
pub(super) fn to(request: &Request<Incoming>, exporter: &mut Exporter) -> Answer {
    match request.uri().path() {
        "/metrics" => metrics(form(request), exporter),
        "/" => said(StatusCode::OK, HTML, START),
        _ => said(StatusCode::NOT_FOUND, PLAIN, "/metrics is there\n"),
    }
}

fn metrics(form: Form, exporter: &mut Exporter) -> Answer {
    let name = match form {
        Form::OpenMetrics => OPENMETRICS,
        Form::Plain => PLAIN,
    };
    match exporter.metrics(form) {
        Ok(metrics) => said(StatusCode::OK, name, metrics),
        Err(error) => {
            let text = format!("{error:#}\n");
            said(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, text)
        }
    }
}

/// The format that the client accepts.
fn form(request: &Request<Incoming>) -> Form {
    let accepted = request.headers().get_all(ACCEPT).iter();
    let mut accepted = accepted.filter_map(|value| value.to_str().ok());
    match accepted.any(|value| value.contains("application/openmetrics-text")) {
        true => Form::OpenMetrics,
        false => Form::Plain,
    }
}
