//! What a collector is sent: one trace a move, through all the processes that it passes.

use std::collections::BTreeSet;

use protocol::ErrorCode;
use protocol::player::PlayerMessage;
use serde_json::{Value, json};

use crate::support::collector::{Collector, Span};
use crate::support::encryption::Authority;
use crate::support::fleet::Fleet;
use crate::support::table::{agree_on, gather, play_to_the_end, refused, start};
use crate::support::{eventually, http};

/// All that a span may say; a name, a card, a token or a seed is none of it.
const ATTRIBUTES: [&str; 8] = [
    "wizard.node",
    "wizard.lobby",
    "wizard.seat",
    "wizard.connection",
    "wizard.receivers",
    "game.command.name",
    "ai.level",
    "error.type",
];

/// One of each process.
const METRICS: [&str; 3] = [
    "gateway.frame.size",
    "game.commit.duration",
    "ai.decision.duration",
];

#[tokio::test]
async fn a_move_is_one_trace_from_the_frame_to_what_everybody_sees() {
    let collector = Collector::over_grpc().await;
    let variables = collector.variables("grpc");
    let mut variables = borrowed(&variables);
    variables.push(("LOG_FORMAT", "json"));
    let fleet = Fleet::over_redis(&variables).await;
    let (mut players, code) = gather(&fleet.url(), 1, 2).await;
    agree_on(&mut players[0], json!({"length": "short"})).await;
    let too_early = PlayerMessage::ReturnToLobby;
    refused(&mut players[0], too_early, ErrorCode::NotFinished).await;
    start(&mut players).await;
    play_to_the_end(&mut players).await;

    let spans = eventually(
        "a whole move, an AI's, and a refusal have come",
        async || {
            let spans = collector.spans();
            let all = whole_move(&spans, &code.to_string(), "game-")
                && spans
                    .iter()
                    .any(|span| carries_out_a_decision(&spans, span))
                && spans.iter().any(is_refused);
            all.then_some(spans)
        },
    )
    .await;
    for span in &spans {
        let unknown: Vec<_> = span.attributes.keys().collect();
        assert!(
            unknown
                .iter()
                .all(|name| ATTRIBUTES.contains(&name.as_str())),
            "{span:?}"
        );
    }
    eventually("metrics of all three processes have come", async || {
        let metrics = collector.metrics();
        METRICS
            .iter()
            .all(|name| metrics.contains(*name))
            .then_some(())
    })
    .await;
    a_refusal_is_logged_with_its_trace(&fleet, &spans);
}

/// The gateway follows the table, and so do its traces.
#[tokio::test]
async fn a_move_is_one_trace_at_the_tables_next_owner_too() {
    let collector = Collector::over_grpc().await;
    let variables = collector.variables("grpc");
    let mut fleet = Fleet::over_redis(&borrowed(&variables)).await;
    let (mut players, code) = gather(&fleet.url(), 1, 2).await;
    agree_on(&mut players[0], json!({"length": "short"})).await;
    start(&mut players).await;
    let path = format!("/lobbies/{code}");
    let lobby = http::get_json(fleet.operations(), &path).await.unwrap();
    // In the order in which the fleet has started them.
    let (place, next) = match lobby["owner"].as_str().unwrap() {
        "game-1" => (1, "game-2"),
        _ => (2, "game-1"),
    };
    fleet.end(place).await;
    play_to_the_end(&mut players).await;
    eventually("a whole move at the next owner has come", async || {
        whole_move(&collector.spans(), &code.to_string(), next).then_some(())
    })
    .await;
}

/// Whether some move of the player's has been seen on its whole way, through a node whose name begins so, up to the
/// question that it led to.
fn whole_move(spans: &[Span], code: &str, node: &str) -> bool {
    let named = |name: &'static str| spans.iter().filter(move |span| span.name == name);
    named("ai.decide").any(|decide| {
        let way = [
            "game.decide",
            "game.step",
            "link.receive",
            "gateway.receive",
        ];
        let mut child = decide;
        for name in way {
            match of(spans, &child.parent) {
                Some(parent) if parent.name == name && parent.trace == decide.trace => {
                    child = parent;
                }
                _ => return false,
            }
        }
        let step = of(spans, &of(spans, &decide.parent).unwrap().parent).unwrap();
        let saved = named("game.commit").find(|commit| commit.parent == step.id);
        let shown =
            saved.and_then(|commit| named("gateway.fan_out").find(|it| it.parent == commit.id));
        let services = [decide, step, child].map(|span| span.service.as_str());
        assert_eq!(
            services,
            ["wizard-ai-node", "wizard-game-node", "wizard-gateway"]
        );
        assert!(child.parent.is_empty(), "it begins with the frame");
        assert_eq!(step.attributes["wizard.lobby"], code);
        assert_eq!(step.attributes["wizard.seat"], "0");
        if !step.attributes["wizard.node"].starts_with(node) {
            return false;
        }
        assert!(decide.attributes["wizard.node"] == "ai");
        assert_eq!(
            step.attributes["wizard.connection"],
            child.attributes["wizard.connection"]
        );
        step.attributes["game.command.name"] == "act" && shown.is_some()
    })
}

/// An AI's own move: the first span of a trace, which says which decision it carries out.
fn carries_out_a_decision(spans: &[Span], span: &Span) -> bool {
    let is_decision = |id: &Vec<u8>| of(spans, id).is_some_and(|it| it.name == "game.decide");
    span.name == "game.step" && span.parent.is_empty() && span.follows.iter().any(is_decision)
}

fn is_refused(span: &Span) -> bool {
    span.name == "game.step" && span.attributes.contains_key("error.type")
}

fn of<'spans>(spans: &'spans [Span], id: &[u8]) -> Option<&'spans Span> {
    spans.iter().find(|span| span.id == id)
}

/// So that whoever reads of it finds what else has happened to it.
fn a_refusal_is_logged_with_its_trace(fleet: &Fleet, spans: &[Span]) {
    let refused = spans.iter().find(|span| is_refused(span));
    let trace = hex(&refused.expect("the refused move").trace);
    let logged: BTreeSet<String> = fleet
        .lines()
        .iter()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|event| event["trace_id"] == trace.as_str() && event["message"] == "refused")
        .map(|event| event["target"].to_string())
        .collect();
    let by = ["game_node::driver::asks", "gateway::connection"];
    let by = by.map(|target| format!("\"{target}\""));
    assert_eq!(
        logged,
        BTreeSet::from(by),
        "who has refused it, and who has said so"
    );
}

fn hex(bytes: &[u8]) -> String {
    let digits = |text, byte: &u8| format!("{text}{byte:02x}");
    bytes.iter().fold(String::new(), digits)
}

#[tokio::test]
async fn over_http_under_another_name_and_as_much_as_is_sampled() {
    let (all, none) = (Collector::over_http().await, Collector::over_http().await);
    let (to_all, to_none) = (
        all.variables("http/protobuf"),
        none.variables("http/protobuf"),
    );
    let mut sampled = borrowed(&to_all);
    sampled.push(("OTEL_SERVICE_NAME", "tables"));
    let mut unsampled = borrowed(&to_none);
    unsampled.push(("OTEL_TRACES_SAMPLER", "always_off"));
    tokio::join!(create_a_table(&sampled), create_a_table(&unsampled));
    let spans = all.spans();
    assert!(!spans.is_empty() && spans.iter().all(|span| span.service == "tables"));
    assert!(all.metrics().contains("gateway.frame.size"));
    assert!(none.metrics().contains("gateway.frame.size"));
    assert!(none.spans().is_empty(), "nothing is sampled");
}

/// By an authority of the collector's own, which wants to know its clients too; and by one that the machine knows.
#[tokio::test]
async fn over_tls_to_whom_they_believe_and_to_nobody_else() {
    let authority = Authority::new();
    let (certificate, key) = authority.identity();
    let own = [
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", authority.certificate()),
        ("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", certificate),
        ("OTEL_EXPORTER_OTLP_CLIENT_KEY", key),
    ];
    let known = [("SSL_CERT_FILE", authority.certificate())];
    let stranger = Authority::new();
    let none = [("SSL_CERT_FILE", stranger.certificate())];
    let sent = async |protocol, trust: &[(&'static str, String)], only_clients| {
        let collector = match protocol {
            "grpc" => Collector::over_grpc().await,
            _ => Collector::over_http().await,
        };
        let address = authority.encrypt(collector.address, only_clients).await;
        let mut variables = collector.variables(protocol);
        variables[0].1 = format!("https://{address}");
        variables.extend_from_slice(trust);
        let lines = create_a_table(&borrowed(&variables)).await;
        let came = !collector.spans().is_empty() && !collector.metrics().is_empty();
        (came, lines)
    };
    let http = "http/protobuf";
    let (grpc_own, http_own, grpc_known, http_known, grpc_none, http_none) = tokio::join!(
        sent("grpc", &own, true),
        sent(http, &own, true),
        sent("grpc", &known, false),
        sent(http, &known, false),
        sent("grpc", &none, false),
        sent(http, &none, false),
    );
    for (came, lines) in [grpc_own, http_own, grpc_known, http_known] {
        assert!(came, "{lines:#?}");
    }
    for (came, lines) in [grpc_none, http_none] {
        let why = lines.iter().find(|line| line.contains("ExportError"));
        assert!(!came && why.is_some(), "{lines:#?}");
        println!("{why:?}");
    }
}

/// Until the process has ended, and has sent all that it had; gives what it has logged.
async fn create_a_table(variables: &[(&str, &str)]) -> Vec<String> {
    let fleet = Fleet::in_one_process(variables).await;
    let (_players, _) = gather(&fleet.url(), 1, 2).await;
    fleet.stop().await
}

fn borrowed<'a>(variables: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    variables
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect()
}
