/// The timestamps that count, and the check whether they are enough.
struct TimestampTally: Sendable {
    private struct Counted {
        let identifier: [UInt8]
        let operatorName: String
        let isCurrent: Bool
        let isTiled: Bool
    }

    /// The number of timestamps that are needed.
    let needed: Int
    private let requiresUntiledLog: Bool
    private var counted: [Counted] = []

    /// - Parameters:
    ///   - leaf: the certificate whose timestamps they are.
    ///   - requiresUntiledLog: whether one must come from a log that is not tiled.
    init(for leaf: X509Certificate, requiresUntiledLog: Bool) {
        needed = Self.needed(for: leaf)
        self.requiresUntiledLog = requiresUntiledLog
    }

    /// The number of timestamps that a leaf needs. Its validity includes both ends (RFC 5280 4.1.2.5).
    static func needed(for leaf: X509Certificate) -> Int {
        leaf.layout.end - leaf.layout.notBefore <= longestWithTwo ? 2 : 3
    }

    private static let longestWithTwo: Int64 = 180 * 86_400

    /// Whether a timestamp of the log has already been counted.
    func contains(_ log: TransparencyLog) -> Bool { counted.contains { $0.identifier == log.identifier } }

    /// Counts a timestamp that a log issued at a time, in seconds since 1970.
    mutating func add(_ log: TransparencyLog, at seconds: Int64) {
        counted.append(
            Counted(
                identifier: log.identifier, operatorName: log.operatorName(at: seconds),
                isCurrent: log.state?.isCurrent ?? false, isTiled: log.isTiled))
    }

    /// Whether the timestamps that count are enough.
    var isMet: Bool { shortcomings.isEmpty }

    /// The requirements that the timestamps that count do not meet, for a message.
    var shortcomings: [String] {
        var shortcomings: [String] = []
        if counted.count < needed { shortcomings.append("\(counted.count) that count") }
        guard let first = counted.first else { return shortcomings }
        if !counted.contains(where: { !$0.operatorName.hasSameOctets(as: first.operatorName) }) {
            shortcomings.append("timestamps of one operator")
        }
        if !counted.contains(where: \.isCurrent) { shortcomings.append("timestamps of retired logs alone") }
        if requiresUntiledLog, counted.allSatisfy(\.isTiled) { shortcomings.append("timestamps of tiled logs alone") }
        return shortcomings
    }

    /// The requirements, for a message.
    var expectation: String {
        let untiled = requiresUntiledLog ? ", one of a log that is not tiled" : ""
        return "\(needed) timestamps of distinct logs and two operators, one of a log that is not retired\(untiled)"
    }
}
