extension X509Certificate {
    /// The pin of its public key.
    public var publicKeyPin: Pin { Pin(subject: .publicKey, hashing: subjectPublicKeyInfo) }

    /// The pin of the whole certificate.
    public var certificatePin: Pin { Pin.certificate(der) }
}

extension SubjectPublicKeyInfo {
    /// The pin of this key: the SHA-256 of ``der``.
    public var sha256Pin: Pin { Pin(subject: .publicKey, hashing: der) }
}
