/// SSLRequest of PostgreSQL ("SSL Session Encryption" in its protocol): a request of eight bytes and an answer of one.
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
            // Its text is not shown, because anybody on the network may have written it (CVE-2024-10977).
            throw DialogueFailure(.refused, "the PostgreSQL server answered the request for TLS with an error")
        default:
            throw DialogueFailure(.malformed, "what answered is not a PostgreSQL server")
        }
    }
}

/// SSLRequest of MySQL and MariaDB ("Protocol::SSLRequest"): the server's greeting, and a request that has no answer.
struct MySQLDialogue: ConnectionDialogue {
    private enum Capability {
        static let longPassword: UInt32 = 0x1
        static let protocol41: UInt32 = 0x200
        static let tls: UInt32 = 0x800
        static let secureConnection: UInt32 = 0x8000
        static let pluginAuthentication: UInt32 = 0x8_0000
    }

    let opening: [UInt8]? = nil

    mutating func hear(_ input: inout PlaintextInput) throws(DialogueFailure) -> DialogueAction {
        let header = Array(input.pending.prefix(4))
        guard header.count == 4 else { return .wait }
        let length = Int(header[0]) | Int(header[1]) << 8 | Int(header[2]) << 16
        guard header[3] == 0, length > 0, length <= PlaintextInput.limit else { throw malformed }
        let greeting = Array(input.pending.dropFirst(4).prefix(length))
        guard greeting.count == length else { return .wait }
        input.drop(4 + length)
        let capabilities = try capabilities(of: greeting)
        guard capabilities & Capability.tls != 0 else {
            throw DialogueFailure(.refused, "the MySQL server does not offer TLS")
        }
        guard capabilities & Capability.protocol41 != 0 else { throw malformed }
        return .finish(saying: Self.request)
    }

    /// The lower half of the capability flags; the others do not matter here.
    private func capabilities(of greeting: [UInt8]) throws(DialogueFailure) -> UInt32 {
        switch greeting.first {
        case 0xFF:
            // An error number of two octets; newer servers add # and five octets of state.
            var words = greeting.dropFirst(3)
            if words.first == UInt8(ascii: "#") { words = words.dropFirst(6) }
            let text = DialogueFailure.quoted(String(decoding: words, as: UTF8.self))
            throw DialogueFailure(.refused, "the MySQL server refused: \(text)")
        case 10:
            guard let end = greeting.dropFirst().firstIndex(of: 0) else { throw malformed }
            // Before the flags are the connection's number, the beginning of the scramble and a zero.
            let flags = Array(greeting.dropFirst(end + 1 + 4 + 8 + 1).prefix(2))
            guard flags.count == 2 else { throw malformed }
            return UInt32(flags[0]) | UInt32(flags[1]) << 8
        default:
            throw malformed
        }
    }

    private static let request: [UInt8] = {
        let flags =
            Capability.longPassword | Capability.protocol41 | Capability.tls | Capability.secureConnection
            | Capability.pluginAuthentication
        let maximumPacket: UInt32 = 1 << 24
        let utf8: UInt8 = 33
        let numbers = [flags, maximumPacket].flatMap { number in (0..<4).map { UInt8(number >> ($0 * 8) & 0xFF) } }
        return [32, 0, 0, 1] + numbers + [utf8] + Array(repeating: 0, count: 23)
    }()

    private var malformed: DialogueFailure {
        DialogueFailure(.malformed, "what answered is not a MySQL server of protocol version 10")
    }
}
