/// STARTTLS of IMAP (RFC 9051 6.2.1): greeting, CAPABILITY, STARTTLS.
struct IMAPDialogue: ConnectionDialogue {
    private enum State {
        case greeting, capabilities, goAhead
    }

    private var state = State.greeting
    private var offersStartTLS = false

    let opening: [UInt8]? = nil

    mutating func hear(_ input: inout PlaintextInput) throws(DialogueFailure) -> DialogueAction {
        while let line = try input.line() {
            let words = line.uppercased().split(separator: " ", omittingEmptySubsequences: false)
            let (tag, status) = (words.first ?? "", words.dropFirst().first ?? "")
            switch (state, tag, status) {
            case (_, "*", "BYE"):
                throw refused(line)
            case (.greeting, "*", "OK"):
                state = .capabilities
                return .say(line: "a1 CAPABILITY")
            case (.greeting, "*", "PREAUTH"):
                throw DialogueFailure(
                    .refused,
                    "the IMAP server takes the connection for authenticated already, and knows no STARTTLS then")
            case (.capabilities, "*", "CAPABILITY"):
                offersStartTLS = words.dropFirst(2).contains("STARTTLS")
            case (.capabilities, "*", _), (.goAhead, "*", _):
                // Whatever a server wants to tell may stand between command and answer (RFC 9051 7).
                break
            case (.capabilities, "A1", "OK"):
                guard offersStartTLS else { throw DialogueFailure(.refused, "the IMAP server does not offer STARTTLS") }
                state = .goAhead
                return .say(line: "a2 STARTTLS")
            case (.goAhead, "A2", "OK"):
                return .finish(saying: [])
            case (.capabilities, "A1", "NO"), (.capabilities, "A1", "BAD"), (.goAhead, "A2", "NO"),
                (.goAhead, "A2", "BAD"):
                throw refused(line)
            default:
                throw DialogueFailure(.malformed, "the IMAP server said \(DialogueFailure.quoted(line))")
            }
        }
        return .wait
    }

    private func refused(_ line: String) -> DialogueFailure {
        DialogueFailure(.refused, "the IMAP server refused: \(DialogueFailure.quoted(line))")
    }
}
