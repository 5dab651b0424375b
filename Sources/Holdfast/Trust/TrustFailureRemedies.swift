extension TrustFailure.Code {
    /// What usually helps; a failure may know better.
    var usualRemedy: String {
        switch self {
        case .emptyChain:
            "The server must send its certificate; check that a TLS server answers at this port."
        case .unreadableCertificate:
            "Have the server's certificate issued anew; this one is not DER of an X.509 certificate."
        case .chainTooLarge:
            "Have the server send its own certificate and its intermediates only."
        case .unknownIssuer:
            "Have the server send its intermediates, or add its root to the anchors if you trust it."
        case .noAnchors:
            "Give the anchors to trust, or install the system's CA certificates (package ca-certificates)."
        case .budgetExceeded:
            "Have the server send only the certificates of one path; no legitimate chain needs a search this large."
        case .pathTooLong:
            "Raise the maximum chain depth if the authority really has this many layers."
        case .invalidSignature:
            "Do not trust this peer: a certificate was altered or signed by someone else than it names."
        case .unsupportedSignatureAlgorithm, .weakSignatureAlgorithm:
            "Have the certificate issued anew with ECDSA, RSA or Ed25519 and SHA-256 or better."
        case .unsupportedKey, .weakKey:
            "Have the certificate issued anew for a P-256, P-384, P-521, Ed25519 or RSA key of 2048 to 8192 bits."
        case .expired:
            "Renew the certificate, or check this device's clock."
        case .notYetValid:
            "Check this device's clock; if it is right, wait until the certificate becomes valid."
        case .unsupportedVersion:
            "Have the certificate issued anew as version 3 (RFC 5280 4.1.2.1)."
        case .notACertificateAuthority, .keyUsageForbidsSigning, .pathLengthExceeded:
            "Do not trust this peer: the issuer has no right to issue this certificate (RFC 5280 6.1.4)."
        case .keyUsageForbidsTLS, .wrongExtendedKeyUsage:
            "Have the certificate issued for TLS: keyUsage digitalSignature, extendedKeyUsage for this purpose."
        case .nameConstraintViolated:
            "Do not trust this peer: the issuer may not issue for this name (RFC 5280 4.2.1.10)."
        case .policyConstraintViolated:
            "Have the certificate issued under a policy that its authorities require (RFC 5280 4.2.1.11)."
        case .unsupportedNameConstraint:
            "Have the issuer's name constraints restated as DNS, IP, e-mail, URI or directory names."
        case .revoked:
            "Do not trust this peer: its certificate was withdrawn; its owner needs a new one."
        case .revocationUnknown:
            "Give a current revocation list of the issuer, signed by it."
        case .notTransparent:
            "Have the certificate issued by an authority that embeds timestamps, or exempt the anchor if it is private."
        case .transparencyNotEnforced:
            "Give a newer log list; until then a certificate that no log has seen passes."
        case .unknownCriticalExtension:
            "Have the certificate issued without that extension, or with it not critical."
        case .malformedExtension, .emptyName, .profileViolation:
            "Have the certificate issued anew in the form of RFC 5280."
        case .hostNameMismatch:
            "Dial a name that the certificate is for, or have it issued for this one."
        case .noSubjectAlternativeName:
            "Have the certificate issued with the host as subjectAltName; common names identify no host (RFC 9525)."
        case .pinMismatch:
            "If the server's key changed on purpose, pin one of the keys above; otherwise someone is in the middle."
        case .candidatePinMismatch:
            "Wait until the server has the key before you accept its pin; a pin on trial changes no decision."
        case .hostRetired:
            "Do not call this host any more: the application's pin file says that it is retired."
        case .debugAnchorUsed:
            "Make sure that a release build does not ask for debug overrides."
        case .pinsExpired:
            "Ship pins with a later expiry, or choose standard validation after it."
        case .noUsablePins:
            "Update the store, or have entries for the host published; a host without pins is not trusted."
        case .pinsPastTheirTime:
            "Let the application reach the trust server, and check that it still signs; in the end the host is refused."
        case .hostNotCovered:
            "Ask the policy of this host, or one whose pattern covers it."
        case .hostUnknown:
            "Say which host was dialled: evaluate(ServerTrust(…, host:), at:) instead of a bare trust."
        case .noPolicyForHost:
            "Add a policy for the host, or say what happens to unknown hosts."
        case .noTrust:
            "Hand over the trust of the handshake."
        case .customValidationRejected:
            "See the application's own validation."
        case .invalidConfiguration:
            "Mend the policy's configuration; makePolicy() throws the same error when the policy is made."
        case .validationDisabled:
            "Give the host another validation type before the application ships."
        case .rejectedBySystem:
            "See the operating system's reason."
        }
    }
}
