import Foundation

/// Section 5.1: the time at which an update begins. Every expiration of the update is compared with it.
struct UpdateStart: Sendable {
    private let seconds: Int64

    /// For files whose expiration was checked before: nothing has expired.
    static let beforeAnyExpiration = UpdateStart(.distantPast)

    init(_ time: Date) {
        // If the clock's time is not a number, everything has expired.
        seconds = Int64(exactly: time.timeIntervalSince1970.rounded(.down)) ?? .max
    }

    /// - Throws: ``TUFError`` `expired` unless the expiration time is in the future.
    func require(_ common: CommonFields, of role: RoleName, section: String) throws(TUFError) {
        guard common.expires > seconds else {
            throw TUFError(
                .expired, of: role.text, section: section, expected: "metadata that expires after \(text(seconds))",
                found: "version \(common.version), expired at \(text(common.expires))")
        }
    }

    private func text(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
    }
}
