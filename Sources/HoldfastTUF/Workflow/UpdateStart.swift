import Foundation

/// Section 5.1: the time at which an update begins. All of it is judged by this one.
struct UpdateStart: Sendable {
    private let seconds: Int64

    /// For what was judged by its expiration before: nothing has expired.
    static let beforeAnyExpiration = UpdateStart(.distantPast)

    init(_ time: Date) {
        // A clock that shows no time at all makes everything expired.
        seconds = Int64(exactly: time.timeIntervalSince1970.rounded(.down)) ?? .max
    }

    /// - Throws: ``TUFError`` `expired` unless the expiration time lies ahead.
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
