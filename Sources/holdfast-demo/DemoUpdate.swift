import Holdfast
import HoldfastTUF

/// The outcome of one update of the demo's pins.
struct DemoUpdate {
    /// The kind of publication.
    enum Kind: Equatable {
        /// A signed document.
        case document
        /// An answer to a challenge.
        case answer
        /// A repository's files. The state says how current the pins are afterward.
        case repository(StoreState)

        /// The basis of the evaluation, as text.
        var judge: String {
            if case .repository = self { "root" } else { "signer" }
        }
    }

    /// The reason for a refusal.
    enum Refusal: Equatable {
        case document(DocumentError.Code)
        case metadata(TUFError.Code)

        var text: String {
            switch self {
            case .document(let code): code.rawValue
            case .metadata(let code): code.rawValue
            }
        }
    }

    /// The display text for the publication.
    let what: String
    let kind: Kind
    /// The reason why it must be refused; nil if it must be accepted.
    let expected: Refusal?
    let error: StoreError?
    /// Whether the right pins are in use afterward.
    let hasRightPins: Bool

    private var refusal: Refusal? {
        switch error?.underlying {
        case let error as DocumentError: .document(error.code)
        case let error as TUFError: .metadata(error.code)
        default: nil
        }
    }

    var isAsExpected: Bool { (error == nil) == (expected == nil) && refusal == expected && hasRightPins }

    var reason: String {
        guard isAsExpected else {
            let pins = hasRightPins ? "" : "the wrong pins count; "
            return "\(pins)\(error.map { "\($0)" } ?? "taken") (expected: \(expected?.text ?? "to be taken"))"
        }
        switch (refusal, kind) {
        case (nil, .document): return "signed with the key"
        case (nil, .answer): return "signed for this challenge"
        case (nil, .repository(let state)): return "signed by enough keys; the pins are \(state.rawValue)"
        case (.document(let code)?, _): return "\(code.rawValue): \(facts(of: code))"
        case (.metadata(let code)?, .repository(let state)):
            return "\(code.rawValue): \(facts(of: code)); the pins are \(state.rawValue)"
        case (.metadata(let code)?, _): return "\(code.rawValue): \(facts(of: code))"
        }
    }

    private func facts(of code: DocumentError.Code) -> String {
        switch code {
        case .invalidSignature where kind == .answer: "made for another challenge"
        case .invalidSignature: "not what the signer signed"
        case .untrustedSigner: "signed with another certificate"
        case .wrongCustomer: "it is for \((error?.underlying as? DocumentError)?.found ?? "")"
        case .losesPins: "the host would be left without pins"
        default: error?.found ?? ""
        }
    }

    private func facts(of code: TUFError.Code) -> String {
        let role = (error?.underlying as? TUFError)?.subject ?? ""
        return switch code {
        case .rolledBack: "an older \(role)"
        case .expired: "the \(role) has ended"
        case .notSigned: "too few keys signed the \(role)"
        default: error?.found ?? ""
        }
    }
}
