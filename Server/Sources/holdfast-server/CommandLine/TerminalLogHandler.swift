import Foundation
import Holdfast
import HoldfastServer
import Logging

/// Writes lines for people and tools on standard error: time, level, words, facts. What a host or a client said stays one
/// line.
struct TerminalLogHandler: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    /// What a line looks like.
    var format = ServeSettings.LogFormat.text
    /// The time of each line.
    var clock: any WallClock = SystemWallClock()
    /// Where lines go.
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
            // The words and facts of a line cannot take the place of its time and level.
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
        // An object of texts can be encoded.
        let bytes = (try? encoder.encode(self)) ?? Data()
        return Terminal.escapedJSON(String(decoding: bytes, as: UTF8.self))
    }
}
