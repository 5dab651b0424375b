import Holdfast

/// What came of one update of the demo's store.
struct DemoUpdate {
    /// What was published, for people.
    let what: String
    /// Why it has to be refused; nil where it has to be taken.
    let expected: DocumentError.Code?
    let error: StoreError?
    /// Whether the pins that count afterwards are those that should.
    let hasRightPins: Bool
    /// Whether it is an answer to a challenge.
    let usesChallenge: Bool

    var code: DocumentError.Code? { (error?.underlying as? DocumentError)?.code }

    var isAsExpected: Bool { (error == nil) == (expected == nil) && code == expected && hasRightPins }

    var reason: String {
        guard isAsExpected else {
            let pins = hasRightPins ? "" : "the wrong pins count; "
            return "\(pins)\(error.map { "\($0)" } ?? "taken") (expected: \(expected?.rawValue ?? "to be taken"))"
        }
        guard let code else { return usesChallenge ? "signed for this challenge" : "signed with the key" }
        let facts =
            switch code {
            case .invalidSignature where usesChallenge: "made for another challenge"
            case .invalidSignature: "not what the signer signed"
            case .untrustedSigner: "signed with another certificate"
            case .wrongCustomer: "it is for \(error.map { ($0.underlying as? DocumentError)?.found ?? "" } ?? "")"
            case .losesPins: "the host would be left without pins"
            default: error?.found ?? ""
            }
        return "\(code.rawValue): \(facts)"
    }
}
