import Foundation
import ServerFoundation

/// The ids of notices that a target has received, so that a restart sends none again. In the file next to the database,
/// each is a line with 32 hexadecimal digits.
struct KnownNotices: Sendable {
    /// The ids.
    private(set) var ids: Set<RandomID>
    /// Whether the target never received a notice. Then old facts are not sent to it.
    private(set) var isNew: Bool

    /// Maximum number of ids, more than current notices; further notices may be sent again.
    static let maximumCount = 32_768
    private static let lineLength = 33

    /// Reads the file. An unusable file counts as missing.
    /// - Parameter file: the file; nil to start empty.
    init(_ file: URL?) {
        let bytes = file.flatMap { try? WholeFile.read($0, limit: Self.maximumCount * Self.lineLength) }
        ids = Set((bytes ?? []).split(separator: 0x0A).compactMap { RandomID(hex: $0) })
        isNew = bytes == nil
    }

    /// Takes ids that were read elsewhere.
    init(_ ids: Set<RandomID>, isNew: Bool) {
        self.ids = ids
        self.isNew = isNew
    }

    /// Adds the ids of sent notices.
    mutating func add(_ told: some Sequence<RandomID>) {
        ids.formUnion(told)
        isNew = false
    }

    /// Removes ids that are no longer current, so that the file does not grow.
    mutating func keep(_ current: Set<RandomID>) { ids.formIntersection(current) }

    /// The content of the file.
    var bytes: [UInt8] {
        Array(ids.map { "\($0)\n" }.sorted().prefix(Self.maximumCount).joined().utf8)
    }
}
