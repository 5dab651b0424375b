/// Whether an app takes what its clients report.
public struct ReportSettings: Sendable, Hashable {
    /// Whether it does; no app does before somebody switches it on.
    public let isEnabled: Bool

    private static let name = "holdfast-reports-v1"
    private static let maximumSize = 1_024

    /// States it.
    public init(isEnabled: Bool) { self.isEnabled = isEnabled }

    /// What the audit has the digest of.
    var bytes: [UInt8] {
        CanonicalJSON.object(["format": .text(Self.name), "enabled": .boolean(isEnabled)]).bytes
    }

    /// Reads settings.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`.
    init(_ bytes: [UInt8]) throws(ServerError) {
        var fields = try JSONFields(
            try CanonicalJSONReader.read(bytes, "reports", limit: Self.maximumSize), "reports")
        try fields.text("format", Self.name) { $0.elementsEqual(Self.name.utf8) ? () : nil }
        isEnabled = try fields.boolean("enabled")
        try fields.finish()
    }
}
