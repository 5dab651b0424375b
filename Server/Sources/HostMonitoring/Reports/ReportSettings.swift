package import ServerFoundation

/// The setting of an app for client reports.
package struct ReportSettings: Sendable, Hashable {
    /// Whether the app takes reports; by default it does not.
    package let isEnabled: Bool

    private static let name = "holdfast-reports-v1"
    private static let maximumSize = 1_024

    /// Creates the setting.
    package init(isEnabled: Bool) { self.isEnabled = isEnabled }

    /// The bytes whose digest the audit records.
    package var bytes: [UInt8] {
        CanonicalJSON.object(["format": .text(Self.name), "enabled": .boolean(isEnabled)]).bytes
    }

    /// Reads the setting.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`.
    package init(_ bytes: [UInt8]) throws(ServerError) {
        var fields = try JSONFields(
            try CanonicalJSONReader.read(bytes, "reports", limit: Self.maximumSize), "reports")
        try fields.text("format", Self.name) { $0.elementsEqual(Self.name.utf8) ? () : nil }
        isEnabled = try fields.boolean("enabled")
        try fields.finish()
    }
}
