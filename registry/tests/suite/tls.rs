//! Redis and sentinels over TLS, trusted by the platform's roots. Scenes of [`super::at_once`].

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;

use super::node::Node;
use super::redis_server::{RedisServer, free_port};
use super::sentinel::Sentinel;
use super::world::until;

/// The files of an authority that only these tests know, and of a certificate of this host's by it.
struct Certificates {
    roots: String,
    own: String,
    key: String,
    _directory: TempDir,
}

impl Certificates {
    fn new() -> Self {
        let directory = TempDir::new().expect("a writable directory");
        let write = |name: &str, text: String| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).expect("a writable directory");
            path.to_str().expect("a plain path").to_owned()
        };
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let authority = CertifiedIssuer::self_signed(authority, key).expect("a certificate");
        let key = KeyPair::generate().expect("a key");
        let own = CertificateParams::new(["127.0.0.1".to_owned()]).expect("a valid name");
        let own = own.signed_by(&key, &authority).expect("a certificate");
        Self {
            roots: write("roots.pem", authority.pem()),
            own: write("own.pem", own.pem()),
            key: write("key.pem", key.serialize_pem()),
            _directory: directory,
        }
    }

    /// What a server or a sentinel is told, to speak TLS at this port.
    fn settings(&self, port: u16) -> [(&'static str, String); 5] {
        [
            ("tls-port", port.to_string()),
            ("tls-cert-file", self.own.clone()),
            ("tls-key-file", self.key.clone()),
            ("tls-ca-cert-file", self.roots.clone()),
            ("tls-auth-clients", "no".to_owned()),
        ]
    }

    fn server(&self, port: u16) -> RedisServer {
        let settings = self.settings(port);
        let words = settings.iter();
        let words = words.flat_map(|(name, value)| [format!("--{name}"), value.clone()]);
        let words: Vec<String> = words.collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        RedisServer::start_with(&words)
    }

    fn trusting(&self, url: &str) -> Node {
        Node::start_with(url, "trusting", &[("SSL_CERT_FILE", &self.roots)])
    }
}

fn lists(server: &RedisServer, id: &str) -> bool {
    let score = server.command::<Option<f64>>(&["ZSCORE", "network:servers", id]);
    score.is_some()
}

pub(crate) async fn trusted_and_not() {
    let certificates = Certificates::new();
    let port = free_port();
    let server = certificates.server(port);
    let url = format!("rediss://127.0.0.1:{port}");
    let trusting = certificates.trusting(&url);
    until("it is listed", || async { lists(&server, "trusting") }).await;
    is_distrusted(&url, &server).await;
    drop(trusting);
}

/// The sentinel takes the master's port for TLS too.
pub(crate) async fn sentinels_and_master() {
    let certificates = Certificates::new();
    let (port, master_port) = (free_port(), free_port());
    let server = certificates.server(master_port);
    let mut settings = vec!["tls-replication yes".to_owned()];
    let own = certificates.settings(port);
    settings.extend(own.map(|(name, value)| format!("{name} {value}")));
    let sentinel = Sentinel::start_with(master_port, &settings.join("\n"));
    let url = format!("rediss+sentinel://127.0.0.1:{port}/main");
    let trusting = certificates.trusting(&url);
    until("it is listed", || async { lists(&server, "trusting") }).await;
    is_distrusted(&url, &server).await;
    drop((trusting, sentinel));
}

/// A certificate of its own authority is one that nobody else trusts.
async fn is_distrusted(url: &str, server: &RedisServer) {
    let other = Node::start(url, "distrusting");
    until("it says why", || async {
        let log = other.log();
        let why = log.iter().find(|line| line.contains("does not answer"));
        why.is_some_and(|line| line.contains("certificate"))
    })
    .await;
    assert!(!lists(server, "distrusting"));
}
