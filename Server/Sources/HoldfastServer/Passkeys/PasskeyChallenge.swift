/// What a passkey signs. The form says for what: each begins with words of its own, so that what was signed for one purpose
/// is never what another one asks for, whoever chose the rest.
struct PasskeyChallenge: Sendable, Hashable {
    /// For what something is signed.
    enum Form: String, Sendable, Hashable, CaseIterable {
        /// Somebody makes a passkey to sign in with.
        case signInRegistration = "holdfast-register-sign-in-v1:"
        /// Somebody makes a passkey to approve with.
        case approvalRegistration = "holdfast-register-approval-v1:"
        /// Somebody signs in.
        case signIn = "holdfast-sign-in-v1:"
        /// Somebody approves or rejects a change, or signs a statement of approvers.
        case approval = "holdfast-passkey-approval-v1:"

        /// For errors.
        var words: String {
            switch self {
            case .signInRegistration, .approvalRegistration: "registration"
            case .signIn: "sign-in"
            case .approval: "approval"
            }
        }
    }

    let form: Form
    /// What the page hands to the browser: the words of the form, and 32 bytes.
    let bytes: [UInt8]

    private init(_ form: Form, _ rest: [UInt8]) {
        self.form = form
        bytes = Array(form.rawValue.utf8) + rest
    }

    /// A new one of 32 random bytes, for a sign-in.
    static func signIn(using generator: inout some RandomNumberGenerator) -> PasskeyChallenge {
        PasskeyChallenge(.signIn, random(&generator))
    }

    /// A new one of 32 random bytes, for making a passkey.
    static func registration(
        _ purpose: PasskeyPurpose, using generator: inout some RandomNumberGenerator
    ) -> PasskeyChallenge {
        PasskeyChallenge(purpose.registration, random(&generator))
    }

    /// The only one for a text: its SHA-256. A text says itself whether it is an approval or a statement of approvers.
    static func approval(of text: [UInt8]) -> PasskeyChallenge {
        PasskeyChallenge(.approval, Digest(of: text).bytes)
    }

    /// Reads one that was kept; nil for bytes of no form.
    init?(bytes: [UInt8]) {
        guard let form = Form.allCases.first(where: { bytes.starts(with: $0.rawValue.utf8) }),
            bytes.count == form.rawValue.utf8.count + 32
        else { return nil }
        self.form = form
        self.bytes = bytes
    }

    private static func random(_ generator: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
