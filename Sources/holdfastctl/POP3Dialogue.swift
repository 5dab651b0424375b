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
