import HoldfastNIOTesting

/// Streams that the server opens, or ends without having opened them: before a request, with its answer, behind it.
enum PushAnswers {
    private typealias Octets = @Sendable (_ stream: UInt32) -> [UInt8]

    static let answers: [Answer] = [2, 4, 100, 0x7FFF_FFFE].flatMap { number in
        pushes(of: number).flatMap { places($0, $1) }
    }

    private static func pushes(of number: UInt32) -> [(String, Octets)] {
        let promise: Octets = { HTTP2Octets.pushPromise($0, promises: number) }
        let many: Octets = { _ in (1..<9).flatMap { HTTP2Octets.pushPromise(number, promises: $0 * 2) } }
        let begun = HTTP2Octets.headers(number, ends: false) + HTTP2Octets.reset(number)
        return [
            ("a push on \(number)", { _ in promise(number) }),
            ("a push of \(number)", promise),
            ("a push of \(number) that is reset", { promise($0) + HTTP2Octets.reset(number) }),
            ("a push of \(number) that is answered", { promise($0) + HTTP2Octets.headers(number) }),
            ("a push of \(number) that begins", { promise($0) + begun }),
            ("a reset of \(number)", { _ in HTTP2Octets.reset(number) }),
            ("a head on \(number)", { _ in HTTP2Octets.headers(number) }),
            ("data on \(number)", { _ in HTTP2Octets.data(number, "x") }),
            ("many pushes on \(number)", many),
        ]
    }

    private static func places(_ name: String, _ push: @escaping Octets) -> [Answer] {
        // Which of the request and the push comes first is a matter of time.
        var before = Answer("\(name), before any request", expecting: .failure, answer: push)
        before.script.greeting = push(1)
        before.needsConnection = true
        let instead = Answer("\(name), instead of an answer", expecting: .malformed(naming: ""), answer: push)
        let amid = Answer("\(name), amid an answer", expecting: .malformed(naming: "")) {
            HTTP2Octets.headers($0, ends: false) + push($0) + HTTP2Octets.data($0, "x")
        }
        var behind = Answer("\(name), behind an answer", expecting: .response(200)) {
            HTTP2Octets.headers($0) + push($0)
        }
        behind.isFollowed = true
        return [before, instead, amid, behind]
    }
}
