import ServerApprovals
import ServerFoundation

/// The calls of the pages' script, and the form that signs out. All are `POST`; ``PageRoute`` has the pages.
enum SignInRoute: Sendable, Hashable {
    /// The two steps of each use of a passkey: the server sends a challenge, then receives the answer.
    enum Step: String, Sendable, Hashable, CaseIterable {
        case begin, finish
    }

    /// `/signin/STEP`
    case signIn(Step)
    /// `/signout`
    case signOut
    /// `/invitation/ID/STEP`, with the digest of the invitation's token.
    case invitation(Digest, Step)
    /// `/changes/APP/ID/approve/STEP`, and `/reject/`.
    case verdict(AppName, RandomID, ApprovalText.Verdict, Step)
    /// `/approvers/sign/STEP`
    case statement(Step)

    /// The route for a path; nil for another path.
    init?(path: [UInt8]) {
        let parts = path.split(separator: UInt8(ascii: "/"), maxSplits: 6, omittingEmptySubsequences: false)
        guard parts.first?.isEmpty == true, let last = parts.last else { return nil }
        func has(_ texts: String?...) -> Bool {
            parts.count == texts.count + 1
                && zip(parts.dropFirst(), texts).allSatisfy { part, text in
                    text.map { part.elementsEqual($0.utf8) } ?? !part.isEmpty
                }
        }
        if has("signout") {
            self = .signOut
            return
        }
        guard let step = Step(bytes: last) else { return nil }
        if has("signin", nil) {
            self = .signIn(step)
        } else if has("approvers", "sign", nil) {
            self = .statement(step)
        } else if has("invitation", nil, nil), let id = Digest(hex: parts[2]) {
            self = .invitation(id, step)
        } else if has("changes", nil, nil, nil, nil), let app = AppName(bytes: parts[2]),
            let change = RandomID(hex: parts[3]), let verdict = ApprovalText.Verdict(bytes: parts[4])
        {
            self = .verdict(app, change, verdict, step)
        } else {
            return nil
        }
    }
}
