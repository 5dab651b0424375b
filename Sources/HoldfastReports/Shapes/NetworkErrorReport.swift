import Holdfast

/// A report of the Reporting API with the body of Network Error Logging, and Holdfast's additions to that body.
/// Required members that would reveal private data are empty: referrer, address, method, headers, user agent, path.
struct NetworkErrorReport: Encodable {
    private enum CodingKeys: String, CodingKey {
        case age
        case type
        case url
        case userAgent = "user_agent"
        case body
    }

    let facts: FailureFacts
    /// Milliseconds since the failure.
    let age: Int64

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(age, forKey: .age)
        try container.encode("network-error", forKey: .type)
        try container.encode(address, forKey: .url)
        try container.encode("", forKey: .userAgent)
        try container.encode(NetworkErrorBody(facts: facts), forKey: .body)
    }

    /// The origin only.
    private var address: String {
        let host = facts.host.utf8.contains(UInt8(ascii: ":")) ? "[\(facts.host)]" : facts.host
        return facts.port == 0 || facts.port == 443 ? "https://\(host)/" : "https://\(host):\(facts.port)/"
    }
}

private struct NetworkErrorBody: Encodable {
    private enum CodingKeys: String, CodingKey {
        case fraction = "sampling_fraction"
        case referrer
        case address = "server_ip"
        case `protocol`
        case method
        case requestHeaders = "request_headers"
        case responseHeaders = "response_headers"
        case status = "status_code"
        case elapsedTime = "elapsed_time"
        case phase
        case type
        case served = "served-certificate-chain"
        case validated = "validated-certificate-chain"
    }

    let facts: FailureFacts

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(facts.fraction, forKey: .fraction)
        for key in [CodingKeys.referrer, .address, .protocol, .method] { try container.encode("", forKey: key) }
        for key in [CodingKeys.requestHeaders, .responseHeaders] {
            try container.encode([String: String](), forKey: key)
        }
        for key in [CodingKeys.status, .elapsedTime] { try container.encode(0, forKey: key) }
        try container.encode("connection", forKey: .phase)
        try container.encode(NetworkErrorType.of(facts).rawValue, forKey: .type)
        try container.encode(facts.served.map { ChainText.pem($0, separator: "\n") }, forKey: .served)
        try container.encode(facts.validated.map { ChainText.pem($0, separator: "\n") }, forKey: .validated)
        try AddedMembers(facts: facts).encode(to: encoder)
    }
}

/// The types of Network Error Logging section 6 for failures.
private enum NetworkErrorType: String {
    case noPin = "tls.cert.pinned_key_not_in_cert_chain"
    case name = "tls.cert.name_invalid"
    case date = "tls.cert.date_invalid"
    case authority = "tls.cert.authority_invalid"
    case revoked = "tls.cert.revoked"
    case certificate = "tls.cert.invalid"
    case other = "tls.failed"

    static func of(_ facts: FailureFacts) -> NetworkErrorType {
        switch TrustFailure.Code(rawValue: facts.code) {
        case .pinMismatch, .candidatePinMismatch: .noPin
        case .hostNameMismatch, .noSubjectAlternativeName: .name
        case .expired, .notYetValid: .date
        case .unknownIssuer, .noAnchors, .rejectedBySystem: .authority
        case .revoked: .revoked
        case .pinsExpired, .noUsablePins, .hostNotCovered, .hostRetired, .invalidConfiguration, .budgetExceeded,
            .emptyChain, .customValidationRejected:
            .other
        default: .certificate
        }
    }
}

extension FailureFacts {
    /// Whether the pins are the reason, and not the chain.
    var isAboutPins: Bool {
        [.pinMismatch, .candidatePinMismatch, .pinsExpired, .noUsablePins].contains(
            TrustFailure.Code(rawValue: code))
    }
}
