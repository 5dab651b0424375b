import Crypto

public import struct Foundation.Date

/// The transparency logs that count, found by their identifiers, and the time when the list was made.
///
/// Google's list is read from JSON, with its signature; other lists are given as data:
/// ```swift
/// let list = TransparencyLogList([
///     try TransparencyLog(name: "Log 1", key: key, operatorName: "Example", state: .usable)
/// ], issuedAt: date)
/// ```
/// It is cheap to copy.
public struct TransparencyLogList: Sendable {
    private final class Index: Sendable {
        let logs: [TransparencyLog]
        let byIdentifier: [OctetString: TransparencyLog]
        let digest: [UInt8]

        init(_ given: [TransparencyLog], _ seconds: Int64) {
            var byIdentifier: [OctetString: TransparencyLog] = [:]
            var logs: [TransparencyLog] = []
            var hash = SHA256()
            hash.update(data: Array("\(seconds) ".utf8))
            for log in given where byIdentifier[OctetString(log.identifier[...])] == nil {
                byIdentifier[OctetString(log.identifier[...])] = log
                logs.append(log)
                hash.update(data: SHA256Digest.of(log.encoded))
            }
            self.logs = logs
            self.byIdentifier = byIdentifier
            digest = Array(hash.finalize())
        }
    }

    private let index: Index
    /// When the list was made, according to its publisher.
    public let issuedAt: Date

    /// Makes a list.
    /// - Parameters:
    ///   - logs: the logs; of two logs with the same key the first one is used.
    ///   - issuedAt: the time from which the age of the list counts.
    package init(_ logs: [TransparencyLog], issuedAt: Date) {
        self.issuedAt = issuedAt
        index = Index(logs, issuedAt.wholeSeconds)
    }

    /// The logs, in the order given.
    package var logs: [TransparencyLog] { index.logs }

    /// The log that timestamps name by an identifier of 32 bytes.
    package func log(withIdentifier identifier: ArraySlice<UInt8>) -> TransparencyLog? {
        index.byIdentifier[OctetString(identifier)]
    }

    /// A digest that is equal for lists with the same content.
    var digest: [UInt8] { index.digest }
}

extension TransparencyLogList: Hashable {
    /// Whether both contain the same logs, in the same order.
    public static func == (left: TransparencyLogList, right: TransparencyLogList) -> Bool {
        left.digest == right.digest
    }

    /// Consistent with equality.
    public func hash(into hasher: inout Hasher) { hasher.combine(octets: digest[...]) }
}

/// The source of ``Transparency``'s logs: a ``TransparencyLogList``, which does not change, or a store that renews it.
/// It is read once at the beginning of every validation, from any thread, and returns without I/O.
public protocol TransparencyLogSource: Sendable {
    /// The current list. Reading it starts nothing.
    var current: TransparencyLogList { get }

    /// Receives the notification that a decision with its list is final, and may fetch a list that is due. It neither
    /// blocks nor takes long. By default it does nothing.
    func noteUse()
}

extension TransparencyLogSource {
    /// Does nothing.
    public func noteUse() {}
}

extension TransparencyLogList: TransparencyLogSource {
    /// The list itself.
    public var current: TransparencyLogList { self }
}
