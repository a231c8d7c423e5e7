//! Whom a collector has to prove to be, and what we prove to it: TLS by OpenTelemetry's own variables.
//!
//! The exporters' library knows none of these, so they are read here, and what is in the files is checked at
//! the start: a collector that can't be reached later is only a line in a log.

use std::path::PathBuf;
use std::{env, fs};

use opentelemetry_otlp::tonic_types::transport::{Certificate, ClientTlsConfig, Identity};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::Error;

/// What one signal's connection believes and shows.
#[derive(Default)]
pub(super) struct Trust {
    /// The authorities that it believes, in PEM; the platform's without any.
    authorities: Option<Vec<u8>>,
    /// Its own certificate and key, in PEM.
    identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl Trust {
    /// What the variables of a signal (`TRACES`, `METRICS`) say, or else those of all.
    pub(super) fn of(signal: &str) -> Result<Self, Error> {
        let read = |what: &str| File::named(signal, what);
        let authorities = read("CERTIFICATE")?.map(File::certificates).transpose()?;
        let identity = match (read("CLIENT_CERTIFICATE")?, read("CLIENT_KEY")?) {
            (Some(certificate), Some(key)) => Some((certificate.certificates()?, key.key()?)),
            (Some(alone), None) | (None, Some(alone)) => {
                return Err(alone.is("of no use alone: a client has a certificate and a key"));
            }
            (None, None) => None,
        };
        Ok(Self {
            authorities,
            identity,
        })
    }

    /// For gRPC.
    pub(super) fn over_grpc(&self) -> ClientTlsConfig {
        let believing = match &self.authorities {
            Some(pem) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)),
            None => ClientTlsConfig::new().with_native_roots(),
        };
        match &self.identity {
            Some((certificate, key)) => believing.identity(Identity::from_pem(certificate, key)),
            None => believing,
        }
    }

    /// For HTTP.
    pub(super) fn over_http(
        &self,
        builder: reqwest::blocking::ClientBuilder,
    ) -> reqwest::Result<reqwest::blocking::ClientBuilder> {
        let believing = match &self.authorities {
            Some(pem) => builder.tls_certs_only(reqwest::Certificate::from_pem_bundle(pem)?),
            None => builder,
        };
        Ok(match &self.identity {
            Some((certificate, key)) => {
                let both = [key.as_slice(), b"\n", certificate].concat();
                believing.identity(reqwest::Identity::from_pem(&both)?)
            }
            None => believing,
        })
    }
}

/// A file that a variable names.
struct File {
    variable: String,
    path: PathBuf,
    pem: Vec<u8>,
}

impl File {
    /// What the signal's own variable names, or else the one of all signals.
    fn named(signal: &str, what: &str) -> Result<Option<Self>, Error> {
        let own = format!("OTEL_EXPORTER_OTLP_{signal}_{what}");
        let common = format!("OTEL_EXPORTER_OTLP_{what}");
        let Some((variable, path)) = [own, common].into_iter().find_map(|variable| {
            let path = env::var_os(&variable).filter(|path| !path.is_empty())?;
            Some((variable, PathBuf::from(path)))
        }) else {
            return Ok(None);
        };
        match fs::read(&path) {
            Ok(pem) => Ok(Some(Self {
                variable,
                path,
                pem,
            })),
            Err(why) => Err(Error::Trust {
                variable,
                why: format!("{}: {why}", path.display()),
            }),
        }
    }

    fn certificates(self) -> Result<Vec<u8>, Error> {
        let mut found = CertificateDer::pem_slice_iter(&self.pem).peekable();
        if found.peek().is_some() && found.all(|one| one.is_ok()) {
            Ok(self.pem)
        } else {
            Err(self.is("not a certificate in PEM"))
        }
    }

    fn key(self) -> Result<Vec<u8>, Error> {
        match PrivateKeyDer::from_pem_slice(&self.pem) {
            Ok(_) => Ok(self.pem),
            Err(_) => Err(self.is("not a private key in PEM")),
        }
    }

    fn is(self, what: &str) -> Error {
        Error::Trust {
            why: format!("{} is {what}", self.path.display()),
            variable: self.variable,
        }
    }
}
