public import Foundation
public import Holdfast

/// A report about one failure, in its sent form, for the application's own crash reporter or log.
public struct TrustReport: Sendable {
    /// The failure, with the dialed host and the presented chain. Neither is sent unless the configuration enables it.
    public let failure: TrustFailure
    /// The outcome of the connection.
    public var outcome: ReportOutcome { facts.outcome }
    /// The time of the failure.
    public var time: Date { Date(wholeSeconds: facts.time) }
    /// The dialed host, or the pattern that covers it.
    public var host: String { facts.host }
    /// The version of the document that the pins are from; `-` if it is unknown.
    public var documentVersion: String { facts.documentVersion }

    let facts: FailureFacts

    init(_ facts: FailureFacts, about failure: TrustFailure) {
        self.facts = facts
        self.failure = failure
    }

    /// The report in a shape.
    /// - Parameters:
    ///   - shape: the format of the report.
    ///   - now: the time of sending; nil for the time of the failure.
    public func body(as shape: ReportShape, at now: Date? = nil) -> Data { facts.body(as: shape, at: now ?? time) }
}

extension FailureFacts {
    func body(as shape: ReportShape, at now: Date) -> Data {
        switch shape {
        case .pinValidation: ReportJSON.data(PinValidationBody(facts: self))
        case .trustKit: ReportJSON.data(TrustKitBody(facts: self))
        case .networkErrorLogging:
            ReportJSON.data([NetworkErrorReport(facts: self, age: milliseconds(until: now))])
        }
    }

    private func milliseconds(until now: Date) -> Int64 {
        let seconds = now.timeIntervalSince(Date(wholeSeconds: time))
        // Also covers NaN.
        guard seconds > 0 else { return 0 }
        return Int64(min(seconds, ReportLimits.longestWait.inSeconds) * 1_000)
    }
}
