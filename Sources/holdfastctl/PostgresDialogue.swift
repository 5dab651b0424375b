/// SSLRequest of PostgreSQL ("SSL Session Encryption" in its protocol): eight bytes and one for an answer.
struct PostgresDialogue: ConnectionDialogue {
    /// A length of 8 and the number 80877103.
    let opening: [UInt8]? = [0, 0, 0, 8, 0x04, 0xD2, 0x16, 0x2F]

    mutating func hear(_ input: inout PlaintextInput) throws(DialogueFailure) -> DialogueAction {
        guard let answer = input.pending.first else { return .wait }
        input.drop(1)
        switch answer {
        case UInt8(ascii: "S"): return .finish(saying: [])
        case UInt8(ascii: "N"):
            throw DialogueFailure(.refused, "the PostgreSQL server does not offer TLS (ssl is off)")
        case UInt8(ascii: "E"):
            // Its text is not shown: anybody on the way may have written it (CVE-2024-10977).
            throw DialogueFailure(.refused, "the PostgreSQL server answered the request for TLS with an error")
        default:
            throw DialogueFailure(.malformed, "what answered is no PostgreSQL server")
        }
    }
}
