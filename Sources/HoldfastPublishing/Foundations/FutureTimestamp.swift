package import Foundation
package import Holdfast

/// A document whose date is further ahead of the clock than clients accept.
package enum FutureTimestamp {
    /// Why a document's timestamp cannot be right; nil if it can.
    /// - Parameters:
    ///   - timestamp: the time that the signer states.
    ///   - now: the time. A signer's clock may be ahead of it by a day.
    package static func error(_ timestamp: Date, at now: Date) -> DocumentError? {
        guard timestamp > now.addingTimeInterval(TrustedTime.longestLead) else { return nil }
        return DocumentError(
            .invalidValue, field: "timestamp", expected: "the time at which the document was made, in seconds",
            found: "\(timestamp.wholeSeconds), which is \(timestamp.formatted(.iso8601)), ahead of the clock",
            remedy: "Write Unix seconds, not milliseconds, and check the signer's clock and this one.")
    }
}
