import ServerFoundation

/// A challenge that a passkey signs. Its form is that of a purpose: each begins with different text, so a signature for
/// one purpose is never valid for another, no matter who chose the rest.
package struct PasskeyChallenge: Sendable, Hashable {
    /// The purpose of a signature.
    package enum Form: String, Sendable, Hashable, CaseIterable {
        /// Register a passkey for signing in.
        case signInRegistration = "holdfast-register-sign-in-v1:"
        /// Register a passkey for approvals.
        case approvalRegistration = "holdfast-register-approval-v1:"
        /// Sign in.
        case signIn = "holdfast-sign-in-v1:"
        /// Approve or reject a change, or sign a statement of approvers.
        case approval = "holdfast-passkey-approval-v1:"

        /// The purpose, for errors.
        var words: String {
            switch self {
            case .signInRegistration, .approvalRegistration: "registration"
            case .signIn: "sign-in"
            case .approval: "approval"
            }
        }
    }

    package let form: Form
    /// The bytes for the browser: the text of the form, and 32 bytes.
    package let bytes: [UInt8]

    private init(_ form: Form, _ rest: [UInt8]) {
        self.form = form
        bytes = Array(form.rawValue.utf8) + rest
    }

    /// A new one of 32 random bytes, for a sign-in.
    package static func signIn(using generator: inout some RandomNumberGenerator) -> PasskeyChallenge {
        PasskeyChallenge(.signIn, random(&generator))
    }

    /// A new one of 32 random bytes, for a registration.
    package static func registration(
        _ purpose: PasskeyPurpose, using generator: inout some RandomNumberGenerator
    ) -> PasskeyChallenge {
        PasskeyChallenge(purpose.registration, random(&generator))
    }

    /// The challenge of a text: its SHA-256. The text itself states whether it is an approval or a statement of
    /// approvers.
    package static func approval(of text: [UInt8]) -> PasskeyChallenge {
        PasskeyChallenge(.approval, Digest(of: text).bytes)
    }

    /// Reads a stored challenge; nil for bytes of no form.
    package init?(bytes: [UInt8]) {
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
