/// STARTTLS of mail servers (RFC 3207): greeting, EHLO, STARTTLS.
struct SMTPDialogue: ConnectionDialogue {
    private enum State {
        case greeting, capabilities, goAhead
    }

    private var state = State.greeting
    /// The code of a multiline reply (RFC 5321 4.2.1) that is not complete yet.
    private var open: Substring?
    private var offersStartTLS = false

    let opening: [UInt8]? = nil

    mutating func hear(_ input: inout PlaintextInput) throws(DialogueFailure) -> DialogueAction {
        while let line = try input.line() {
            let code = line.prefix(3)
            let separator = line.dropFirst(3).first ?? " "
            guard code.utf8.count == 3, code.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                separator == " " || separator == "-", code == open ?? code
            else {
                throw DialogueFailure(.malformed, "the SMTP server said \(DialogueFailure.quoted(line))")
            }
            // The first line of the answer to EHLO has the server's name.
            if open != nil, case .capabilities = state, line.dropFirst(4).uppercased() == "STARTTLS" {
                offersStartTLS = true
            }
            guard separator == " " else {
                open = code
                continue
            }
            open = nil
            switch (state, code) {
            case (.greeting, "220"):
                state = .capabilities
                return .say(line: "EHLO [127.0.0.1]")
            case (.capabilities, "250"):
                guard offersStartTLS else { throw DialogueFailure(.refused, "the SMTP server does not offer STARTTLS") }
                state = .goAhead
                return .say(line: "STARTTLS")
            case (.goAhead, "220"):
                return .finish(saying: [])
            default:
                throw DialogueFailure(.refused, "the SMTP server refused: \(DialogueFailure.quoted(line))")
            }
        }
        return .wait
    }
}

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
                    "the IMAP server regards the connection as authenticated already, and then offers no STARTTLS")
            case (.capabilities, "*", "CAPABILITY"):
                offersStartTLS = words.dropFirst(2).contains("STARTTLS")
            case (.capabilities, "*", _), (.goAhead, "*", _):
                // A server may send other messages between a command and its answer (RFC 9051 7).
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

/// STLS of POP3 (RFC 2595 4): greeting, STLS.
struct POP3Dialogue: ConnectionDialogue {
    private var isGreeted = false

    let opening: [UInt8]? = nil

    mutating func hear(_ input: inout PlaintextInput) throws(DialogueFailure) -> DialogueAction {
        guard let line = try input.line() else { return .wait }
        switch line.prefix(while: { $0 != " " }) {
        case "+OK" where isGreeted:
            return .finish(saying: [])
        case "+OK":
            isGreeted = true
            return .say(line: "STLS")
        case "-ERR":
            throw DialogueFailure(.refused, "the POP3 server refused: \(DialogueFailure.quoted(line))")
        default:
            throw DialogueFailure(.malformed, "the POP3 server said \(DialogueFailure.quoted(line))")
        }
    }
}
