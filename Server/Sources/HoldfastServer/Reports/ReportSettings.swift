/// Whether an app takes what its clients report.
public struct ReportSettings: Sendable, Hashable {
    /// Whether it does; no app does before somebody switches it on.
    public let isEnabled: Bool

    private static let name = "holdfast-reports-v1"
    private static let greatestSize = 1_024

    /// States it.
    public init(isEnabled: Bool) { self.isEnabled = isEnabled }

    /// What the audit has the digest of.
    var octets: [UInt8] {
        CanonicalJSON.object(["format": .text(Self.name), "enabled": .boolean(isEnabled)]).octets
    }

    /// Reads settings.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`.
    init(_ octets: [UInt8]) throws(ServerError) {
        var fields = try JSONFields(
            try CanonicalJSONReader.read(octets, "reports", limit: Self.greatestSize), "reports")
        try fields.text("format", Self.name) { $0.elementsEqual(Self.name.utf8) ? () : nil }
        isEnabled = try fields.boolean("enabled")
        try fields.finish()
    }
}
