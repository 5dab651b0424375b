/// Frames of HTTP/2 (RFC 9113) as bytes, in any order and with any content.
package enum HTTP2Octets {
    package static func frame(_ kind: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        [UInt8(payload.count >> 16 & 0xFF), UInt8(payload.count >> 8 & 0xFF), UInt8(payload.count & 0xFF)]
            + [kind, flags] + octets(stream) + payload
    }

    package static func data(_ stream: UInt32, _ text: String = "", ends: Bool = true) -> [UInt8] {
        frame(0, flags: ends ? 1 : 0, stream: stream, Array(text.utf8))
    }

    /// Status 200 of HPACK's static table (RFC 7541 appendix A).
    package static func headers(_ stream: UInt32, ends: Bool = true, block: [UInt8] = [0x88]) -> [UInt8] {
        frame(1, flags: ends ? 5 : 4, stream: stream, block)
    }

    /// A literal field without indexing, with name and value uncompressed (RFC 7541 6.2.2).
    package static func field(_ name: String, _ value: String) -> [UInt8] {
        [0] + string(Array(name.utf8)) + string(Array(value.utf8))
    }

    /// A string without Huffman coding, its length with a prefix of seven bits (RFC 7541 5.1 and 5.2).
    private static func string(_ octets: [UInt8]) -> [UInt8] {
        guard octets.count >= 127 else { return [UInt8(octets.count)] + octets }
        var (length, rest) = ([UInt8(127)], octets.count - 127)
        while rest >= 128 {
            length.append(UInt8(rest % 128) | 128)
            rest /= 128
        }
        return length + [UInt8(rest)] + octets
    }

    /// A promise of a stream, whose request is a GET.
    package static func pushPromise(_ stream: UInt32, promises promised: UInt32) -> [UInt8] {
        let request = [UInt8(0x82), 0x84, 0x87] + field(":authority", "www.example.com")
        return frame(5, flags: 4, stream: stream, octets(promised) + request)
    }

    package static func reset(_ stream: UInt32, code: UInt32 = 8) -> [UInt8] { frame(3, stream: stream, octets(code)) }

    package static func settings(_ values: [(UInt16, UInt32)] = []) -> [UInt8] {
        frame(4, values.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 0xFF)] + octets($0.1) })
    }

    /// Settings with the maximum number of concurrent streams.
    package static func settings(streams: UInt32) -> [UInt8] { settings([(3, streams)]) }

    package static let settingsAcknowledged = frame(4, flags: 1)
    package static func ping(isAnswer: Bool = false) -> [UInt8] {
        frame(6, flags: isAnswer ? 1 : 0, Array(repeating: 7, count: 8))
    }

    package static func goAway(last: UInt32 = 0x7FFF_FFFF, code: UInt32 = 0) -> [UInt8] {
        frame(7, octets(last) + octets(code))
    }

    package static func windowUpdate(_ stream: UInt32, by count: UInt32) -> [UInt8] {
        frame(8, stream: stream, octets(count))
    }

    private static func octets(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
