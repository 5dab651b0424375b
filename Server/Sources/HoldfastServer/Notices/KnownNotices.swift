import Foundation

/// What a target was told already: a restart tells nobody anything twice. In a file beside the database it is a line for
/// each, the 32 hexadecimal digits of its id.
struct KnownNotices: Sendable {
    /// The ids.
    private(set) var ids: Set<RandomID>
    /// Whether nobody was ever told anything: what lies long behind is no news then.
    private(set) var isNew: Bool

    /// More than a server has news at a time; what is beyond may be told again.
    static let maximumCount = 32_768
    private static let lineLength = 33

    /// Reads the file. One that cannot be used is as none.
    /// - Parameter file: the file; nil to begin with nothing.
    init(_ file: URL?) {
        let bytes = file.flatMap { try? WholeFile.read($0, limit: Self.maximumCount * Self.lineLength) }
        ids = Set((bytes ?? []).split(separator: 0x0A).compactMap { RandomID(hex: $0) })
        isNew = bytes == nil
    }

    /// Takes what was read elsewhere.
    init(_ ids: Set<RandomID>, isNew: Bool) {
        self.ids = ids
        self.isNew = isNew
    }

    /// Adds what was told.
    mutating func add(_ told: some Sequence<RandomID>) {
        ids.formUnion(told)
        isNew = false
    }

    /// Forgets what is no news anymore, so that the file does not grow.
    mutating func keep(_ current: Set<RandomID>) { ids.formIntersection(current) }

    /// What the file has.
    var bytes: [UInt8] {
        Array(ids.map { "\($0)\n" }.sorted().prefix(Self.maximumCount).joined().utf8)
    }
}
