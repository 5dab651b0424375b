/// CONNECT of HTTP proxies (RFC 9110 9.3.6): a request, and an answer whose status begins with 2.
struct ProxyDialogue: ConnectionDialogue {
    private var isAccepted = false
    /// Whether the next lines belong to an interim response (RFC 9110 15.2).
    private var isInterim = false

    let opening: [UInt8]?

    /// - Parameters:
    ///   - target: the host and port to which the proxy should connect.
    ///   - authorization: the value of Proxy-Authorization; nil to omit it.
    init(target: String, authorization: String? = nil) {
        let field = authorization.map { "Proxy-Authorization: \($0)\r\n" } ?? ""
        opening = Array("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\(field)\r\n".utf8)
    }

    mutating func hear(_ input: inout PlaintextInput) throws(DialogueFailure) -> DialogueAction {
        while let line = try input.line() {
            if isAccepted || isInterim {
                guard line.isEmpty else { continue }
                guard isInterim else { return .finish(saying: []) }
                isInterim = false
                continue
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
        return .wait
    }
}
