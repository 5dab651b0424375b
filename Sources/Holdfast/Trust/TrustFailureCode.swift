// Remedies that several codes share.
private let betterSignature =
    "Have the certificate issued anew with ECDSA, RSA or Ed25519 and SHA-256 or better."
private let betterKey =
    "Have the certificate issued anew for a P-256, P-384, P-521, Ed25519 or RSA key of 2048 to 8192 bits."
private let noRightToIssue =
    "Do not trust this peer: the issuer has no right to issue this certificate (RFC 5280 6.1.4)."
private let issueForTLS =
    "Have the certificate issued for TLS: keyUsage digitalSignature, extendedKeyUsage for this purpose."

extension TrustFailure.Code {
    // Presented certificates
    /// The peer presented no certificate.
    public static var emptyChain: Self {
        Self("The server must send its certificate; check that a TLS server answers at this port.")
    }
    /// The leaf is not a certificate that can be read.
    public static var unreadableCertificate: Self {
        Self("Have the server's certificate issued anew; this one is not DER of an X.509 certificate.")
    }
    /// More certificates or bytes were presented than the budget allows.
    public static var chainTooLarge: Self {
        Self("Have the server send its own certificate and its intermediates only.")
    }

    // Path building and validation, RFC 5280 section 6
    /// No path leads from the leaf to an anchor.
    public static var unknownIssuer: Self {
        Self("Have the server send its intermediates, or add its root to the anchors if you trust it.")
    }
    /// No anchors are available to build a path to.
    public static var noAnchors: Self {
        Self("Give the anchors to trust, or install the system's CA certificates (package ca-certificates).")
    }
    /// The search used up its budget before it found an answer.
    public static var budgetExceeded: Self {
        Self("Have the server send only the certificates of one path; no legitimate chain needs a search this large.")
    }
    /// More intermediates than the setting allows.
    public static var pathTooLong: Self {
        Self("Raise ValidationLimits.intermediates if the authority really has this many layers.")
    }
    /// A signature does not verify under the issuer's key.
    public static var invalidSignature: Self {
        Self("Do not trust this peer: a certificate was altered or signed by someone else than it names.")
    }
    /// A signature algorithm that is not supported.
    public static var unsupportedSignatureAlgorithm: Self { Self(betterSignature) }
    /// A signature made with SHA-1 or MD5.
    public static var weakSignatureAlgorithm: Self { Self(betterSignature) }
    /// A public key of an unsupported kind.
    public static var unsupportedKey: Self { Self(betterKey) }
    /// An RSA key below 2048 bits.
    public static var weakKey: Self { Self(betterKey) }
    /// A certificate's notAfter is in the past.
    public static var expired: Self { Self("Renew the certificate, or check this device's clock.") }
    /// A certificate's notBefore is in the future.
    public static var notYetValid: Self {
        Self("Check this device's clock; if it is right, wait until the certificate becomes valid.")
    }
    /// A certificate is not version 3.
    public static var unsupportedVersion: Self {
        Self("Have the certificate issued anew as version 3 (RFC 5280 4.1.2.1).")
    }
    /// An issuer is not a CA, according to its basicConstraints.
    public static var notACertificateAuthority: Self { Self(noRightToIssue) }
    /// More intermediates below a CA than its pathLenConstraint allows.
    public static var pathLengthExceeded: Self { Self(noRightToIssue) }
    /// An issuer's keyUsage lacks keyCertSign.
    public static var keyUsageForbidsSigning: Self { Self(noRightToIssue) }
    /// The leaf's keyUsage allows no operation that TLS needs.
    public static var keyUsageForbidsTLS: Self { Self(issueForTLS) }
    /// An extendedKeyUsage leaves out the purpose at hand.
    public static var wrongExtendedKeyUsage: Self { Self(issueForTLS) }
    /// A name is outside the permitted or inside an excluded subtree of an issuer.
    public static var nameConstraintViolated: Self {
        Self("Do not trust this peer: the issuer may not issue for this name (RFC 5280 4.2.1.10).")
    }
    /// A name constraint that cannot be applied.
    public static var unsupportedNameConstraint: Self {
        Self("Have the issuer's name constraints restated as DNS, IP, e-mail, URI or directory names.")
    }
    /// The validator, or an authority on the path, requires certificate policies that the path does not have.
    public static var policyConstraintViolated: Self {
        Self("Have the certificate issued under a policy that its authorities require (RFC 5280 4.2.1.11).")
    }
    /// A critical extension that is not understood.
    public static var unknownCriticalExtension: Self {
        Self("Have the certificate issued without that extension, or with it not critical.")
    }
    /// An extension whose content does not match its syntax.
    public static var malformedExtension: Self { Self("Have the certificate issued anew in the form of RFC 5280.") }
    /// An empty issuer, or an issuer's empty subject.
    public static var emptyName: Self { Self("Have the certificate issued anew in the form of RFC 5280.") }

    /// A certificate is on its issuer's revocation list.
    public static var revoked: Self {
        Self("Do not trust this peer: its certificate was withdrawn; its owner needs a new one.")
    }
    /// None of the revocation lists of an issuer can be used.
    public static var revocationUnknown: Self { Self("Give a current revocation list of the issuer, signed by it.") }
    /// The leaf lacks the timestamps of transparency logs that the validator requires.
    public static var notTransparent: Self {
        Self(
            "Have the certificate issued by an authority that embeds timestamps, or exempt the anchor if it is private."
        )
    }
    /// The log list is too old, so no timestamps were required. Occurs only as a notice of a decision.
    public static var transparencyNotEnforced: Self {
        Self("Give a newer log list; until then a certificate that no log has seen passes.")
    }
    /// A certificate is not of the form that the strict profile requires.
    public static var profileViolation: Self { Self("Have the certificate issued anew in the form of RFC 5280.") }

    // Server identity, RFC 9525
    /// No subjectAltName of the leaf is the host that was dialed.
    public static var hostNameMismatch: Self {
        Self("Dial a name that the certificate is for, or have it issued for this one.")
    }
    /// The leaf has no subjectAltName; a common name never identifies a host.
    public static var noSubjectAlternativeName: Self {
        Self("Have the certificate issued with the host as subjectAltName; common names identify no host (RFC 9525).")
    }

    // Policy
    /// A valid path exists but has none of the pins.
    public static var pinMismatch: Self {
        Self("If the server's key changed on purpose, pin one of the keys above; otherwise someone is in the middle.")
    }
    /// No certificate of the path has one of the candidate pins. Occurs only as a notice of a decision.
    public static var candidatePinMismatch: Self {
        Self("Wait until the server has the key before you accept its pin; a candidate changes no decision.")
    }
    /// The pin set's expiry has passed.
    public static var pinsExpired: Self {
        Self("Ship pins with a later expiry, or choose standard validation after it.")
    }
    /// The store has no pins for the host, or all of them have expired.
    public static var noUsablePins: Self {
        Self("Update the store, or have entries for the host published; a host without pins is not trusted.")
    }
    /// The pins come from a document that is no longer fresh but still within its grace period. Occurs only as a notice
    /// of a decision.
    public static var pinsPastTheirTime: Self {
        Self(
            "Let the application reach the trust server, and check that it still signs; in the end the host is refused."
        )
    }
    /// The host is retired: apps must no longer connect to it.
    public static var hostRetired: Self {
        Self("Do not call this host anymore: the application's pin file says that it is retired.")
    }
    /// The path ends in an anchor that is trusted in debug builds only. Occurs only as a notice of a decision.
    public static var debugAnchorUsed: Self { Self("Make sure that a release build does not ask for debug overrides.") }
    /// The policy does not cover the host that was dialed.
    public static var hostNotCovered: Self { Self("Ask the policy of this host, or one whose pattern covers it.") }
    /// The policy needs the host that was dialed, and the caller did not give it.
    public static var hostUnknown: Self {
        Self("Say which host was dialed: evaluate(ServerTrust(…, host:), at:) instead of a bare trust.")
    }
    /// No policy is registered for the host.
    public static var noPolicyForHost: Self { Self("Add a policy for the host, or say what happens to unknown hosts.") }
    /// There was no trust to evaluate.
    public static var noTrust: Self { Self("Hand over the trust of the handshake.") }
    /// The application's own validation rejected the peer.
    public static var customValidationRejected: Self { Self("See the application's own validation.") }
    /// The policy's configuration is wrong; it rejects every peer until that is fixed.
    public static var invalidConfiguration: Self {
        Self("Correct the policy's configuration: what was expected and what was found say how.")
    }
    /// Validation is switched off for this host. Occurs only as a notice of a decision, never as a reason to reject.
    public static var validationDisabled: Self {
        Self("Give the host a policy that validates before the application ships.")
    }
    /// The operating system rejected the chain.
    public static var rejectedBySystem: Self { Self("See the operating system's reason.") }
}
