/// CONNECT of HTTP proxies (RFC 9110 9.3.6), as a pure state machine: a request, and a response whose status begins
/// with 2.
///
/// An attacker on the network may have written any part of the proxy's response. The client trusts none of it, except
/// that TLS may begin. The proxy sends only in its turn, and no byte may remain when TLS begins.
struct ProxyDialogue: Sendable {
    /// The request that the client sends first.
    let opening: [UInt8]

    private var input = PlaintextInput()
    private var isAccepted = false
    /// Whether the next lines belong to an interim response (RFC 9110 15.2).
    private var isInterim = false
    private var isDone = false

    /// - Parameters:
    ///   - target: the host and port to which the proxy should connect.
    ///   - authorization: the value of Proxy-Authorization; nil to omit it.
    init(target: String, authorization: String? = nil) {
        let field = authorization.map { "Proxy-Authorization: \($0)\r\n" } ?? ""
        opening = Array("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\(field)\r\n".utf8)
    }

    /// Handles input from the proxy.
    /// - Returns: whether TLS begins now.
    mutating func receive(_ bytes: [UInt8]) throws(DialogueFailure) -> Bool {
        try input.append(bytes)
        while !isDone, let line = try input.line() { try read(line) }
        guard isDone else { return false }
        guard input.pending.isEmpty else {
            throw DialogueFailure(
                .extraBytes,
                "\(input.pending.count) bytes in plaintext came with or after the last answer, where nothing may come; "
                    + "somebody may have injected them")
        }
        return true
    }

    private mutating func read(_ line: String) throws(DialogueFailure) {
        if isAccepted || isInterim {
            guard line.isEmpty else { return }
            isDone = isAccepted
            isInterim = false
            return
        }
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[0] == "HTTP/1.1" || words[0] == "HTTP/1.0", words[1].utf8.count == 3,
            let status = Int(words[1])
        else {
            throw DialogueFailure(.malformed, "the proxy said \(DialogueFailure.quoted(line))")
        }
        switch status {
        case 100..<200 where status != 101: isInterim = true
        case 200..<300: isAccepted = true
        default: throw DialogueFailure(.refused, "the proxy refused: \(DialogueFailure.quoted(line))")
        }
    }
}
