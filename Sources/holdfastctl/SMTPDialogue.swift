/// STARTTLS of mail servers (RFC 3207): greeting, EHLO, STARTTLS.
struct SMTPDialogue: ConnectionDialogue {
    private enum State {
        case greeting, capabilities, goAhead
    }

    private var state = State.greeting
    /// The code of a reply of several lines (RFC 5321 4.2.1) that is not over.
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
