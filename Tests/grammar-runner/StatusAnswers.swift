import HoldfastNIOTesting

/// Every status that can be written, and what no status is.
enum StatusAnswers {
    /// All codes of three digits, those of which a prefix, a sign or a space makes something else, and long ones.
    static let statuses: [String] =
        (0...999).map { code in String(repeating: "0", count: 3 - "\(code)".count) + "\(code)" }
        + [
            "", "2", "20", "0200", "2000", "-1", "-200", "+200", "-0", "+0", " 200", "200 ", " ", "2 0", "2.0", "1e2",
            "0x2", "0xC8", "two", "nil", "\u{FF12}\u{FF10}\u{FF10}", "2\u{301}00", "20\u{660}", "\u{B2}00", "2\u{0}0",
            "9223372036854775808", "18446744073709551816", "-9223372036854775808", "65736", "4294967496",
            String(repeating: "2", count: 200), String(repeating: "9", count: 9_000), "1", "10", "1000", "100 ", "1-1",
        ]

    /// The expected reading of a response with this status (RFC 9110 15).
    static func expectation(_ status: String, _ speech: AnsweringPeer.Speech) -> Answer.Expectation {
        // A space more ends the status line's code: what follows is its reason (RFC 9112 4).
        let isSpaced = speech != .http2 && status.hasSuffix(" ") && status.utf8.count == 4
        let code = isSpaced ? String(status.dropLast()) : status
        guard code.utf8.count == 3, code.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt(code) else {
            let isPrintable = status.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            let isNamed = !status.isEmpty && status.utf8.count < 30 && isPrintable
            return .malformed(naming: isNamed ? status : "")
        }
        return switch number {
        case 101: .malformed(naming: "101")
        // The final response comes after it.
        case 100..<200: .response(200)
        case 200..<600: .response(number)
        default: .malformed(naming: status)
        }
    }

    static func answers(_ speech: AnsweringPeer.Speech) -> [Answer] {
        statuses.flatMap { status -> [Answer] in
            let expectation = expectation(status, speech)
            let name = "status \(status.prefix(30).debugDescription)"
            switch speech {
            case .http2: return http2(status, name, expectation)
            case .plain, .http1: return [http1(status, name, expectation)]
            }
        }
    }

    private static func http1(_ status: String, _ name: String, _ expectation: Answer.Expectation) -> Answer {
        var text = "HTTP/1.1 \(status) x\r\n"
        // An informational response has no body, and the final one follows it.
        text +=
            isInformational(status) ? "\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok" : "content-length: 0\r\n\r\n"
        return Answer(name, Array(text.utf8), expecting: expectation)
    }

    private static func http2(_ status: String, _ name: String, _ expectation: Answer.Expectation) -> [Answer] {
        let block = HTTP2Octets.field(":status", status)
        if isInformational(status) {
            let answer = Answer(name, expecting: expectation) {
                HTTP2Octets.headers($0, ends: false, block: block) + HTTP2Octets.headers($0)
            }
            // The head that ends its stream is the last: an informational one is not.
            let last = Answer("\(name), the last", expecting: .malformed(naming: "")) {
                HTTP2Octets.headers($0, block: block)
            }
            return [answer, last]
        }
        return [
            Answer(name, expecting: expectation) { HTTP2Octets.headers($0, block: block) },
            Answer("\(name), with data", expecting: status == "304" ? .malformed(naming: "") : expectation) {
                HTTP2Octets.headers($0, ends: false, block: block) + HTTP2Octets.data($0, "data")
            },
        ]
    }

    private static func isInformational(_ status: String) -> Bool { status.utf8.first == 0x31 }
}
