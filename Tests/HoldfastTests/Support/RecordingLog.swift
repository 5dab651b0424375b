import Logging

@testable import Holdfast

/// A log that keeps its lines, and policies' log on top of it.
final class RecordingLog: Sendable {
    private let kept = Lock<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    var policyLog: PolicyLog {
        PolicyLog(Logger(label: "test") { _ in Handler(log: self) })
    }

    /// Has every logger of the process that is made from now on write here; only once in a process.
    func bootstrap() { LoggingSystem.bootstrap { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let details = (event.metadata ?? [:]).map { "\($0)=\($1)" }.sorted()
            log.kept.withLock { $0.append("\(event.level) \(event.message) \(details.joined(separator: " "))") }
        }
    }
}
