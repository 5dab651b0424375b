/// The purpose of a passkey, set when it is registered. It never changes: a passkey for signing in approves nothing,
/// and one for approvals signs no person in.
package enum PasskeyPurpose: String, Sendable, Hashable, CaseIterable {
    /// To sign in.
    case signIn = "sign-in"
    /// To approve and reject.
    case approval

    /// The form of the challenge for registering one.
    package var registration: PasskeyChallenge.Form {
        switch self {
        case .signIn: .signInRegistration
        case .approval: .approvalRegistration
        }
    }
}
