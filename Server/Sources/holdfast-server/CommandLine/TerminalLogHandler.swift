import Foundation
import Holdfast
import HoldfastServer
import Logging

/// Writes log lines for people and tools to standard error: time, level, message, facts. Text from hosts and clients
/// cannot add lines.
struct TerminalLogHandler: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    /// The format of the lines.
    var format = ServeSettings.LogFormat.text
    /// The time of each line.
    var clock: any WallClock = SystemWallClock()
    /// The output function.
    var write: @Sendable (String) -> Void = { Terminal.report($0) }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let facts = metadata.merging(event.metadata ?? [:]) { _, new in new }.map { ($0.key, "\($0.value)") }
        let time = clock.now.formatted(.iso8601)
        switch format {
        case .text:
            let text = facts.sorted { $0.0 < $1.0 }.map { " \($0.0)=\($0.1)" }.joined()
            write(Terminal.escaped("\(time) \(event.level) \(event.message)\(text)"))
        case .json:
            // The message and facts cannot replace the time and level of a line.
            let line = JSONLine(
                time: time, level: "\(event.level)", message: "\(event.message)",
                facts: Dictionary(facts) { first, _ in first })
            write(line.text)
        }
    }
}

/// A line of the log as an object of JSON, with sorted members.
private struct JSONLine: Encodable {
    let time: String
    let level: String
    let message: String
    let facts: [String: String]

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding an object of texts cannot fail.
        let bytes = (try? encoder.encode(self)) ?? Data()
        return Terminal.escapedJSON(String(decoding: bytes, as: UTF8.self))
    }
}
