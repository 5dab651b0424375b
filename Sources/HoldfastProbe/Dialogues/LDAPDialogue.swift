/// StartTLS of LDAP (RFC 4511 4.14): an extended request and its response.
struct LDAPDialogue: ConnectionDialogue {
    private static let startTLS = Array("1.3.6.1.4.1.1466.20037".utf8)

    let opening: [UInt8]? = {
        let request = [0x77, UInt8(startTLS.count + 2), 0x80, UInt8(startTLS.count)] + startTLS
        return [0x30, UInt8(request.count + 3), 0x02, 0x01, 0x01] + request
    }()

    mutating func hear(_ input: inout PlaintextInput) throws(DialogueFailure) -> DialogueAction {
        // Checked at once, because anything other than LDAP may never become as long as it claims.
        guard input.pending.first ?? 0x30 == 0x30 else { throw malformed }
        guard let message = try Element(input.pending) else { return .wait }
        input.drop(message.length)
        var rest = message.content
        let identifier = try number(tag: 0x02, from: &rest)
        let response = try element(tag: 0x78, from: &rest)
        rest = response.content
        let result = try number(tag: 0x0A, from: &rest)
        _ = try element(tag: 0x04, from: &rest)
        let words = String(decoding: try element(tag: 0x04, from: &rest).content, as: UTF8.self)
        while let more = try Element(rest) {
            rest = rest.dropFirst(more.length)
            // Another name belongs to another operation, for example to the notice of disconnection.
            guard more.tag != 0x8A || Array(more.content) == Self.startTLS || result != 0 else { throw malformed }
        }
        guard rest.isEmpty else { throw malformed }
        guard result == 0 else {
            let name = Self.resultNames[result].map { " (\($0))" } ?? ""
            let text = words.isEmpty ? "" : ": \(DialogueFailure.quoted(words))"
            throw DialogueFailure(.refused, "the LDAP server refused with result code \(result)\(name)\(text)")
        }
        guard identifier == 1 else { throw malformed }
        return .finish(saying: [])
    }

    private static let resultNames = [
        1: "operationsError", 2: "protocolError", 8: "strongerAuthRequired", 10: "referral",
        50: "insufficientAccessRights", 51: "busy", 52: "unavailable", 53: "unwillingToPerform", 80: "other",
    ]

    private var malformed: DialogueFailure {
        DialogueFailure(.malformed, "the LDAP server's answer is no response to StartTLS")
    }

    private func element(tag: UInt8, from rest: inout ArraySlice<UInt8>) throws(DialogueFailure) -> Element {
        guard let element = try Element(rest), element.tag == tag else { throw malformed }
        rest = rest.dropFirst(element.length)
        return element
    }

    private func number(tag: UInt8, from rest: inout ArraySlice<UInt8>) throws(DialogueFailure) -> Int {
        let content = try element(tag: tag, from: &rest).content
        guard (1...4).contains(content.count) else { throw malformed }
        return content.reduce(0) { $0 << 8 | Int($1) }
    }

    /// One BER element with a definite length (RFC 4511 5.1), which need not have the shortest form.
    private struct Element {
        let tag: UInt8
        let content: ArraySlice<UInt8>
        /// The length of the whole element, with its tag and length octets.
        let length: Int

        /// Reads an element; nil while it is incomplete.
        init?(_ bytes: ArraySlice<UInt8>) throws(DialogueFailure) {
            guard let tag = bytes.first, let first = bytes.dropFirst().first else { return nil }
            var header = 2
            var count = Int(first)
            if first >= 0x80 {
                let octets = Int(first & 0x7F)
                guard (1...4).contains(octets) else {
                    throw DialogueFailure(.malformed, "the LDAP server sent an element without a definite length")
                }
                let digits = bytes.dropFirst(2).prefix(octets)
                guard digits.count == octets else { return nil }
                count = digits.reduce(0) { $0 << 8 | Int($1) }
                header += octets
            }
            // If Int has only 32 bits, four octets can be negative.
            guard (0...PlaintextInput.limit).contains(count) else {
                throw DialogueFailure(
                    .tooLong, "the LDAP server announced an answer of more than \(PlaintextInput.limit) bytes")
            }
            content = bytes.dropFirst(header).prefix(count)
            guard content.count == count else { return nil }
            self.tag = tag
            length = header + count
        }
    }
}
