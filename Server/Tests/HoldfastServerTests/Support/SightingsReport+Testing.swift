@testable import HostMonitoring
@testable import ServerFoundation
@testable import ServerModel

extension SightingsReport {
    /// The JSON of a report about one host.
    static func bytes(_ label: String, _ shown: [(address: String, chain: [[UInt8]])], at time: Int64) -> [UInt8] {
        let shown = shown.map { shown in
            CanonicalJSON.object([
                "address": .text(shown.address),
                "certificates": .array(shown.chain.map { .text(Base64.encode($0)) }),
            ])
        }
        return CanonicalJSON.object([
            "format": .text("holdfast-sightings-v1"), "time": .text(ClockGuard.text(time)),
            "hosts": .array([.object(["host": .text(label), "shown": .array(shown)])]),
        ]).bytes
    }

    /// Reads JSON.
    init(_ bytes: [UInt8]) throws(ServerError) {
        var fields = try JSONFields(try JSONReader.read(bytes, "body", limit: 1 << 22), "")
        try self.init(&fields)
    }
}
