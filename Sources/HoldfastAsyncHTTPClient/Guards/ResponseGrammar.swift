import Holdfast

/// The state of the response to one request, and its possible continuations (RFC 9110 15, RFC 9112 2.1, RFC 9113 8.1):
/// informational heads, one final head, its body, trailers, the end.
///
/// AsyncHTTPClient 1.37 and the codecs of NIOHTTP1 and NIOHTTP2 stop the process if a server violates this order or
/// sends an invalid status. So they get only data that a guard has checked against this grammar.
struct ResponseGrammar {
    /// RFC 9110 15.2 has no limit; servers send one or two.
    static let maximumInformationalHeads = 16

    private enum Place {
        case beforeHead
        case inBody
        case afterEnd
    }

    private var place = Place.beforeHead
    private var informationalHeads = 0

    /// Whether nothing of the response has arrived.
    var isUntouched: Bool { place == .beforeHead && informationalHeads == 0 }

    /// Processes a head.
    /// - Parameters:
    ///   - status: the status text from the server.
    ///   - ends: whether it ends the response; in HTTP/1.1 a separate part does.
    mutating func head(_ status: String, ends: Bool = false) throws(PinnedHTTPClientError) {
        guard let code = Self.code(status) else { throw .malformedResponse(found: "the status \(status.quoted)") }
        try head(code, ends: ends)
    }

    /// Processes a head whose status was three digits.
    mutating func head(_ code: Int, ends: Bool = false) throws(PinnedHTTPClientError) {
        var status: String { String(repeating: "0", count: max(3 - "\(code)".utf8.count, 0)) + "\(code)" }
        switch place {
        case .beforeHead: break
        case .inBody: throw .malformedResponse(found: "a second final response, with the status \(status.quoted)")
        case .afterEnd: throw .malformedResponse(found: "the status \(status.quoted) after the end")
        }
        switch code {
        case 101:
            // This client never requests an upgrade (RFC 9110 7.8), and HTTP/2 has none (RFC 9113 8.6).
            throw .malformedResponse(found: "the status \(status.quoted), a switch of protocols that nobody asked for")
        case 100..<200:
            guard !ends else {
                throw .malformedResponse(found: "the end behind the informational status \(status.quoted)")
            }
            informationalHeads += 1
            guard informationalHeads <= Self.maximumInformationalHeads else {
                throw .malformedResponse(found: "more than \(Self.maximumInformationalHeads) informational responses")
            }
        case 200..<600: place = ends ? .afterEnd : .inBody
        default: throw .malformedResponse(found: "the status \(status.quoted)")
        }
    }

    /// Processes a part of the body.
    mutating func body(ends: Bool = false) throws(PinnedHTTPClientError) {
        try expectBody("a body")
        if ends { place = .afterEnd }
    }

    /// Processes the end, with trailers or without.
    mutating func end() throws(PinnedHTTPClientError) {
        try expectBody("the end")
        place = .afterEnd
    }

    /// Processes a block of fields that ends the response.
    /// - Parameter ends: whether it has the end flag, as it must (RFC 9113 8.1).
    mutating func trailers(ends: Bool) throws(PinnedHTTPClientError) {
        try expectBody("a head without a status")
        guard ends else { throw .malformedResponse(found: "trailers that are not the end") }
        place = .afterEnd
    }

    private func expectBody(_ name: String) throws(PinnedHTTPClientError) {
        switch place {
        case .beforeHead: throw .malformedResponse(found: "\(name) before a final status")
        case .inBody: break
        case .afterEnd: throw .malformedResponse(found: "\(name) after the end")
        }
    }

    /// Exactly three ASCII digits (RFC 9110 15).
    private static func code(_ status: String) -> Int? {
        let octets = status.utf8
        guard octets.count == 3 else { return nil }
        var code = 0
        for octet in octets {
            guard (0x30...0x39).contains(octet) else { return nil }
            code = code * 10 + Int(octet - 0x30)
        }
        return code
    }
}
