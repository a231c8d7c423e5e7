//! What stands in front of a server and speaks TLS for it, with certificates of an authority that only the test knows.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, Issuer, KeyPair};
use rustls::RootCertStore;
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use tempfile::TempDir;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// An authority, and what it has signed, in files.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut own = CertificateParams::default();
        own.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self {
            issuer: CertifiedIssuer::self_signed(own, key).unwrap(),
            folder: TempDir::new().unwrap(),
        }
    }

    /// The file of its own certificate.
    pub(crate) fn certificate(&self) -> String {
        self.write("authority.pem", &self.issuer.pem())
    }

    /// The files of a certificate and its key, for a client.
    pub(crate) fn identity(&self) -> (String, String) {
        let (certificate, key) = self.sign("a client");
        (
            self.write("client.pem", &certificate.pem()),
            self.write("client-key.pem", &key.serialize_pem()),
        )
    }

    /// Takes TLS at the address that it gives, from clients that this authority has signed if it shall be so, and
    /// carries it on to the server.
    pub(crate) async fn encrypt(&self, server: SocketAddr, only_clients: bool) -> SocketAddr {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = if only_clients {
            let mut roots = RootCertStore::empty();
            roots.add(self.issuer.der().clone()).unwrap();
            let clients = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
            builder.with_client_cert_verifier(clients.build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let (certificate, key) = self.sign("127.0.0.1");
        let certificate = CertificateDer::from(certificate);
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = builder.with_single_cert(vec![certificate], key).unwrap();
        // Of gRPC, and of plain HTTP.
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(accept(
            listener,
            TlsAcceptor::from(Arc::new(config)),
            server,
        ));
        address
    }

    fn sign(&self, name: &str) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let names = CertificateParams::new([name.replace(' ', "-")]).unwrap();
        let issuer: &Issuer<'_, KeyPair> = &self.issuer;
        (names.signed_by(&key, issuer).unwrap(), key)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path: PathBuf = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, server: SocketAddr) {
    while let Ok((near, _)) = listener.accept().await {
        let handshake = acceptor.accept(near);
        tokio::spawn(async move {
            // A client that is not believed is one that a test waits for.
            if let (Ok(mut near), Ok(mut far)) = (handshake.await, TcpStream::connect(server).await)
            {
                let _ended = copy_bidirectional(&mut near, &mut far).await;
            }
        });
    }
}
