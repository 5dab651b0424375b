package import Holdfast
package import Logging

/// A log that keeps its lines, with a logger and a `PolicyLog` that write to it.
package final class RecordingLog: Sendable {
    private let kept = Lock<[String]>([])

    package init() {}

    package var lines: [String] { kept.withLock { $0 } }

    package var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    package var policyLog: PolicyLog { PolicyLog(logger) }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            let details = all.map { "\($0)=\($1)" }.sorted()
            log.kept.withLock { $0.append("\(event.level) \(event.message) \(details.joined(separator: " "))") }
        }
    }
}
