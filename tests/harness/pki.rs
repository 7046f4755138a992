//! Certificates of one cluster, signed by one authority that exists as long as the cluster.

use std::{
    fs,
    path::{Path, PathBuf},
};

use testkit::rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};

/// Signs certificates of servers and users. Groups of users are organisations, as Kubernetes reads them.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: PathBuf,
}

/// A certificate and its key, as files.
#[derive(Clone)]
pub struct Identity {
    /// Path of the PEM certificate.
    pub certificate: PathBuf,
    /// Path of the PEM key.
    pub key: PathBuf,
}

impl Authority {
    /// Creates an authority with its files in `folder`.
    pub fn new(folder: PathBuf) -> Self {
        let key = new_key();
        let mut params = CertificateParams::default();
        params
            .distinguished_name
            .push(DnType::CommonName, "test authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let certificate = params.self_signed(&key).expect("the certificate can be signed");
        fs::create_dir_all(&folder).expect("the cluster's directory is writable");
        write(&folder.join("ca.crt"), &certificate.pem());
        // A separate key signs service account tokens.
        let accounts = new_key();
        write(&folder.join("accounts.key"), &accounts.serialize_pem());
        write(&folder.join("accounts.pub"), &accounts.public_key_pem());
        Self {
            issuer: Issuer::new(params, key),
            folder,
        }
    }

    /// A file of this authority: `ca.crt`, `accounts.key`, `accounts.pub`.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A certificate for a server with these `names`. It is also valid for a client, because etcd connects to
    /// itself.
    pub fn server(&self, file: &str, names: &[&str]) -> Identity {
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).expect("the names are valid");
        params.distinguished_name.push(DnType::CommonName, file);
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        self.sign(file, &params)
    }

    /// A client certificate for this user in these groups.
    pub fn client(&self, file: &str, user: &str, groups: &[&str], expired: bool) -> Identity {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, user);
        for group in groups {
            params.distinguished_name.push(DnType::OrganizationName, *group);
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        if expired {
            params.not_after = date_time_ymd(2020, 1, 1);
        }
        self.sign(file, &params)
    }

    fn sign(&self, file: &str, params: &CertificateParams) -> Identity {
        let key = new_key();
        let certificate = params
            .signed_by(&key, &self.issuer)
            .expect("the certificate can be signed");
        let identity = Identity {
            certificate: self.folder.join(format!("{file}.crt")),
            key: self.folder.join(format!("{file}.key")),
        };
        write(&identity.certificate, &certificate.pem());
        write(&identity.key, &key.serialize_pem());
        identity
    }
}

fn new_key() -> KeyPair {
    KeyPair::generate().expect("a key can be made")
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}
