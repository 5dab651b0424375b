import HoldfastNIOTesting
import HoldfastTesting

/// Good answers with a few bytes changed. Whatever comes of them, it comes in time and ends nothing else.
enum DamagedAnswers {
    private static let good = [
        "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nt: z\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.0 302 Found\r\nlocation: /x\r\nconnection: close\r\n\r\nbody",
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 099 x\r\ncontent-length: 0\r\n\r\n",
    ]

    private static let tokens: [[UInt8]] = [
        "\r\n\r\n", "HTTP/1.1 ", "101", "099", "-1", "content-length: 1\r\n", "upgrade: x\r\n", "0\r\n\r\n", "\0", " ",
        "transfer-encoding: chunked\r\n", "HTTP/1.1 200 OK\r\n\r\n",
    ].map { Array($0.utf8) }

    static func answer(_ speech: AnsweringPeer.Speech, seed: UInt64) -> Answer {
        var dice = SplitMix64(seed: seed)
        var answer: Answer
        if speech == .http2 {
            let whole = dice
            answer = Answer("damaged HTTP/2 \(seed)", expecting: .anything) { stream in
                var dice = whole
                return dice.mutated(frames(stream, &dice), tokens: frameTokens(stream))
            }
        } else {
            let octets = dice.mutated(Array((good.randomElement(using: &dice) ?? "").utf8), tokens: tokens)
            let name = "damaged HTTP/1.1 \(seed): \(String(decoding: octets, as: UTF8.self).debugDescription)"
            answer = Answer(name, octets, expecting: .anything)
        }
        answer.script.closes = true
        answer.isFollowed = true
        return answer
    }

    private static func frames(_ stream: UInt32, _ dice: inout SplitMix64) -> [UInt8] {
        let informational = HTTP2Octets.headers(stream, ends: false, block: HTTP2Octets.field(":status", "103"))
        let head = HTTP2Octets.headers(stream, ends: false, block: HTTP2Octets.field(":status", "200"))
        let data = HTTP2Octets.data(stream, "body", ends: Bool.random(using: &dice))
        let trailers = HTTP2Octets.headers(stream, block: HTTP2Octets.field("t", "z"))
        return (Bool.random(using: &dice) ? informational : []) + head + data + trailers
    }

    private static func frameTokens(_ stream: UInt32) -> [[UInt8]] {
        [
            HTTP2Octets.headers(stream), HTTP2Octets.data(stream, "x"), HTTP2Octets.reset(stream, code: 0),
            HTTP2Octets.pushPromise(stream, promises: 2), HTTP2Octets.pushPromise(2, promises: 2),
            HTTP2Octets.reset(2), HTTP2Octets.headers(2), HTTP2Octets.goAway(last: stream),
            HTTP2Octets.settings(streams: 0),
            HTTP2Octets.settingsAcknowledged, HTTP2Octets.headers(stream, block: HTTP2Octets.field(":status", "")),
            HTTP2Octets.headers(stream, block: HTTP2Octets.field(":status", "-1")), [0, 0, 0], [0xFF],
        ]
    }
}
