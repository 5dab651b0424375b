/// Which versions of an application are too old, on a platform or on one major version of its system.
public struct VersionRule: Sendable, Hashable {
    /// A platform, as the reference's clients name it.
    public enum Platform: String, Sendable, Hashable, CaseIterable {
        /// Android.
        case android = "ANDROID"
        /// iOS.
        case ios = "IOS"
    }

    /// The platform.
    public let platform: Platform
    /// The major version of the system that the rule is for; nil for all others. Android's is the API level.
    public let majorSystemVersion: Int64?
    /// Older versions are told to update.
    public let suggested: AppVersion?
    /// Older versions must update.
    public let required: AppVersion?
    /// The key of the text to show; nil for none.
    public let messageKey: String?

    private static let systemVersions: ClosedRange<Int64> = 0...999_999_999

    /// Makes a rule.
    /// - Throws: ``ServerError`` `invalidValue` for a system version outside 0 to 999,999,999, and a message key that is
    ///   not 1 to 255 printable ASCII characters.
    public init(
        platform: Platform, majorSystemVersion: Int64? = nil, suggested: AppVersion? = nil,
        required: AppVersion? = nil, messageKey: String? = nil
    ) throws(ServerError) {
        guard majorSystemVersion.map({ Self.systemVersions.contains($0) }) ?? true,
            messageKey.map({ LocalizedText.isKey($0.utf8) }) ?? true
        else {
            throw ServerError(
                .invalidValue, of: "versions", expected: "a major version from 0 on, a key of 1 to 255 printable ASCII",
                found: "another value")
        }
        self.platform = platform
        self.majorSystemVersion = majorSystemVersion
        self.suggested = suggested
        self.required = required
        self.messageKey = messageKey
    }

    var sortingKey: [UInt8] {
        let system = majorSystemVersion.map { number in
            [1] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        }
        return Array(platform.rawValue.utf8) + [0] + (system ?? [0])
    }

    var json: CanonicalJSON {
        var members: [String: CanonicalJSON] = ["platform": .text(platform.rawValue)]
        if let majorSystemVersion { members["majorSystemVersion"] = .integer(majorSystemVersion) }
        if let suggested { members["suggested"] = .text("\(suggested)") }
        if let required { members["required"] = .text("\(required)") }
        if let messageKey { members["messageKey"] = .text(messageKey) }
        return .object(members)
    }

    init(reading value: CanonicalJSON, _ path: String) throws(ServerError) {
        var fields = try JSONFields(value, path)
        let platform = try fields.text("platform", "ANDROID or IOS") { Platform(octets: $0) }
        let system = try fields.optionalInteger("majorSystemVersion", in: Self.systemVersions)
        var versions: [AppVersion?] = []
        for key in ["suggested", "required"] {
            guard let text = try fields.optionalText(key) else {
                versions.append(nil)
                continue
            }
            guard let version = AppVersion(text), "\(version)".utf8.elementsEqual(text) else {
                throw fields.invalid(key, "MAJOR.MINOR.PATCH")
            }
            versions.append(version)
        }
        let messageKey = try fields.optionalText("messageKey")
        guard messageKey.map({ LocalizedText.isKey($0) }) ?? true else {
            throw fields.invalid("messageKey", "1 to 255 printable ASCII characters")
        }
        try fields.finish()
        try self.init(
            platform: platform, majorSystemVersion: system, suggested: versions[0], required: versions[1],
            messageKey: messageKey.map { String(decoding: $0, as: UTF8.self) })
    }
}
