/// What a passkey is for. It is said when the passkey is made, and never changes: one that signs people in approves nothing,
/// and one that approves signs nobody in.
public enum PasskeyPurpose: String, Sendable, Hashable, CaseIterable {
    /// To sign in.
    case signIn = "sign-in"
    /// To approve and reject.
    case approval

    /// What is signed to make one.
    var registration: PasskeyChallenge.Form {
        switch self {
        case .signIn: .signInRegistration
        case .approval: .approvalRegistration
        }
    }
}
