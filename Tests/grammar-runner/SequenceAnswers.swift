import HoldfastNIOTesting
import HoldfastTesting

/// Seeded sequences of what a server may and may not send, and what comes of each by a model of the rules that shares
/// nothing with the guards.
enum SequenceAnswers {
    private static let finals = [200, 201, 203, 299, 300, 302, 400, 404, 500, 599]
    private static let informationals = [100, 102, 103, 110, 199]
    private static let wrong = ["099", "000", "600", "999", "101", "20", "-1", "", "+200", "0200"]

    static func answer(_ speech: AnsweringPeer.Speech, seed: UInt64) -> Answer {
        var dice = SplitMix64(seed: seed)
        return speech == .http2 ? http2(seed, &dice) : http1(seed, &dice)
    }

    // MARK: HTTP/1.1

    private static func http1(_ seed: UInt64, _ dice: inout SplitMix64) -> Answer {
        var text = ""
        var expectation: Answer.Expectation?
        let count =
            Bool.random(using: &dice) ? Int.random(in: 0...3, using: &dice) : Int.random(in: 14...18, using: &dice)
        for number in 1...max(count, 1) where number <= count {
            let isWrong = Int.random(in: 0..<40, using: &dice) == 0
            let code = isWrong ? "101" : "\(informationals.randomElement(using: &dice) ?? 100)"
            if expectation == nil, isWrong || number > 16 { expectation = .malformed(naming: "") }
            text += "HTTP/1.1 \(code) x\r\nx: y\r\n\r\n"
        }
        if Int.random(in: 0..<10, using: &dice) == 0 {
            // A body without a head.
            text += "2\r\nok\r\n0\r\n\r\n"
            expectation = expectation ?? .malformed(naming: "")
        }
        let isWrong = Int.random(in: 0..<4, using: &dice) == 0
        let code = finals.randomElement(using: &dice) ?? 200
        let status = isWrong ? wrong.randomElement(using: &dice) ?? "099" : "\(code)"
        let isFinal = expectation == nil && !isWrong
        expectation = expectation ?? (isWrong ? .malformed(naming: "") : .response(UInt(code)))
        text += "HTTP/1.1 \(status) x\r\n"
        let bodies = [
            "content-length: 0\r\n\r\n", "content-length: 4\r\n\r\nbody",
            "transfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nt: z\r\n\r\n",
        ]
        text += bodies.randomElement(using: &dice) ?? ""
        let rest = [
            "", "", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "HTTP/1.1 099 x\r\n\r\n", "0\r\n\r\n", "\0",
            "HTTP/1.1 100 x\r\n\r\n",
        ].randomElement(using: &dice)
        text += rest ?? ""
        var answer = Answer(
            "HTTP/1.1 \(seed): \(text.debugDescription)", Array(text.utf8), expecting: expectation ?? .anything)
        answer.isFollowed = isFinal && rest?.isEmpty == false
        return answer
    }

    // MARK: HTTP/2

    fileprivate enum Part: Sendable {
        case head(String, ends: Bool)
        case trailers(status: String?, ends: Bool)
        case data(ends: Bool)
        /// Frames that change nothing.
        case ping
        case priority
        case window
        case unknown
        case acknowledgment
        /// Frames of a stream that the server has opened, which it may not. Not reset or window: NIOHTTP2 ignores
        /// a promise on a stream that this client has just reset, and then those two, as on any stream that has ended.
        case push(on: UInt32?, promised: UInt32)
        case other(kind: UInt8, stream: UInt32)

        func octets(_ stream: UInt32) -> [UInt8] {
            switch self {
            case .head(let status, let ends):
                HTTP2Octets.headers(stream, ends: ends, block: HTTP2Octets.field(":status", status))
            case .trailers(let status, let ends):
                HTTP2Octets.headers(
                    stream, ends: ends,
                    block: status.map { HTTP2Octets.field(":status", $0) } ?? HTTP2Octets.field("x", "y"))
            case .data(let ends): HTTP2Octets.data(stream, "data", ends: ends)
            case .ping: HTTP2Octets.ping()
            case .priority: HTTP2Octets.frame(2, stream: stream, [0, 0, 0, 0, 7])
            case .window: HTTP2Octets.windowUpdate(stream, by: 7)
            case .unknown: HTTP2Octets.frame(200, flags: 7, stream: stream, [1, 2, 3])
            case .acknowledgment: HTTP2Octets.settingsAcknowledged
            case .push(let parent, let promised): HTTP2Octets.pushPromise(parent ?? stream, promises: promised)
            case .other(let kind, let other):
                kind == 0 ? HTTP2Octets.data(other, "data") : HTTP2Octets.headers(other)
            }
        }
    }

    private static func part(_ dice: inout SplitMix64, isFirst: Bool) -> Part {
        let ends = Bool.random(using: &dice)
        switch Int.random(in: 0..<40, using: &dice) {
        case 0..<12:
            let status = isFirst || Bool.random(using: &dice) ? finals.randomElement(using: &dice) ?? 200 : 103
            return .head("\(status)", ends: ends)
        case 12..<17: return .head("\(informationals.randomElement(using: &dice) ?? 100)", ends: false)
        case 17..<20: return .head(wrong.randomElement(using: &dice) ?? "099", ends: ends)
        case 20..<27: return .data(ends: ends)
        case 27..<30: return .trailers(status: nil, ends: ends)
        case 30: return .trailers(status: "200", ends: ends)
        case 31: return .ping
        case 32: return .priority
        case 33: return .window
        case 34: return .unknown
        case 35, 36:
            let places: [UInt32?] = [nil, 2, 4, 0x7FFF_FFFE]
            let parent = places.randomElement(using: &dice) ?? nil
            return .push(on: parent, promised: [2, 4, 6, 100].randomElement(using: &dice) ?? 2)
        case 37:
            return .other(
                kind: [0, 1].randomElement(using: &dice) ?? 1,
                stream: [2, 4, 0x7FFF_FFFD, 0x7FFF_FFFE].randomElement(using: &dice) ?? 2)
        default: return .head("200", ends: true)
        }
    }

    private static func http2(_ seed: UInt64, _ dice: inout SplitMix64) -> Answer {
        var parts: [Part] = []
        if Bool.random(using: &dice) { parts.append(.head("200", ends: false)) }
        if Int.random(in: 0..<10, using: &dice) == 0 {
            parts += (0..<Int.random(in: 14...18, using: &dice)).map { _ in .head("103", ends: false) }
        }
        for _ in 0..<Int.random(in: 1...6, using: &dice) { parts.append(part(&dice, isFirst: parts.isEmpty)) }
        if Int.random(in: 0..<4, using: &dice) == 0 {
            // Once its settings are acknowledged, NIOHTTP2 refuses pushes by itself; before it does not.
            parts.insert(.acknowledgment, at: 0)
        }
        let model = Model(parts.map(\.effect))
        let frames = parts
        var answer = Answer(
            "HTTP/2 \(seed): \(parts.map { String(reflecting: $0).split(separator: "Part.").last ?? "" })",
            expecting: model.expectation
        ) { stream in
            let octets = frames.flatMap { $0.octets(stream) }
            // An incomplete answer is reset, since the client would wait for the rest.
            return model.expectation == .failure ? octets + HTTP2Octets.reset(stream) : octets
        }
        answer.isFollowed = model.isFollowed
        // Settings are acknowledged once a connection.
        if case .acknowledgment? = parts.first { answer.needsConnection = true }
        return answer
    }
}

/// The expected result of a sequence of parts, by the rules alone: informational heads other than 101, at most 16, one
/// final head of 200 to 599, data, trailers, the end.
struct Model {
    enum Effect {
        case head(UInt?, ends: Bool)
        case trailers(hasStatus: Bool, ends: Bool)
        case data(ends: Bool)
        case nothing
        case breach
    }

    private(set) var expectation = Answer.Expectation.failure
    private(set) var isFollowed = false

    init(_ effects: [Effect]) {
        var (informational, status, hasEnded) = (0, UInt?.none, false)
        for effect in effects {
            if case .nothing = effect { continue }
            if hasEnded {
                isFollowed = true
                return
            }
            var isWrong = false
            switch effect {
            case .head(let code, let ends):
                switch code ?? 0 {
                case 100, 102..<200:
                    informational += 1
                    isWrong = status != nil || ends || informational > 16
                case 200..<600:
                    isWrong = status != nil
                    status = code
                    hasEnded = ends
                default: isWrong = true
                }
            case .trailers(let hasStatus, let ends):
                // A block with a status and nothing else is a head.
                if hasStatus, status == nil {
                    (status, hasEnded) = (200, ends)
                } else {
                    isWrong = hasStatus || status == nil || !ends
                    hasEnded = ends
                }
            case .data(let ends):
                isWrong = status == nil
                hasEnded = ends
            case .breach: isWrong = true
            case .nothing: break
            }
            if isWrong {
                expectation = .malformed(naming: "")
                return
            }
            if hasEnded { expectation = .response(status ?? 0) }
        }
    }
}

extension SequenceAnswers.Part {
    fileprivate var effect: Model.Effect {
        switch self {
        case .head(let status, let ends):
            .head(status.utf8.count == 3 && !status.hasPrefix("+") ? UInt(status) : nil, ends: ends)
        case .trailers(let status, let ends): .trailers(hasStatus: status != nil, ends: ends)
        case .data(let ends): .data(ends: ends)
        case .ping, .priority, .window, .unknown, .acknowledgment: .nothing
        case .push, .other: .breach
        }
    }
}
