//! Redis over TLS, trusted by the platform's roots. A scene of [`super::at_once`].

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;

use super::node::Node;
use super::redis_server::{RedisServer, free_port};
use super::world::until;

pub(crate) async fn trusted_and_not() {
    let directory = TempDir::new().expect("a writable directory");
    let write = |name: &str, text: String| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("a writable directory");
        path.to_str().expect("a plain path").to_owned()
    };
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().expect("a key"))
        .expect("a certificate");
    let key = KeyPair::generate().expect("a key");
    let own = CertificateParams::new(["127.0.0.1".to_owned()]).expect("a valid name");
    let own = own.signed_by(&key, &authority).expect("a certificate");
    let roots = write("roots.pem", authority.pem());
    let own = write("own.pem", own.pem());
    let key = write("key.pem", key.serialize_pem());

    let port = free_port();
    let server = RedisServer::start_with(&[
        "--tls-port",
        &port.to_string(),
        "--tls-cert-file",
        &own,
        "--tls-key-file",
        &key,
        "--tls-ca-cert-file",
        &roots,
        "--tls-auth-clients",
        "no",
    ]);
    let url = format!("rediss://127.0.0.1:{port}");
    let trusting = Node::start_with(&url, "trusting", &[("SSL_CERT_FILE", &roots)]);
    let listed = |id: &str| {
        let score = server.command::<Option<f64>>(&["ZSCORE", "network:servers", id]);
        score.is_some()
    };
    until("it is listed", || async { listed("trusting") }).await;
    // Its own certificate is no root that anybody else trusts.
    let other = Node::start(&url, "distrusting");
    until("it says why", || async {
        let log = other.log();
        let why = log.iter().find(|line| line.contains("does not answer"));
        why.is_some_and(|line| line.contains("certificate"))
    })
    .await;
    assert!(!listed("distrusting"));
    drop(trusting);
}
