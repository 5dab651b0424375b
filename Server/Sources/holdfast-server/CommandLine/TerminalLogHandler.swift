import Foundation
import Holdfast
import HoldfastServer
import Logging

/// Writes lines for people and tools on standard error: time, level, words. What a host or a client said stays one line.
struct TerminalLogHandler: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let merged = metadata.merging(event.metadata ?? [:]) { _, new in new }
        let facts = merged.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        let text = Terminal.escaped(
            "\(SystemWallClock().now.formatted(.iso8601)) \(event.level) \(event.message)\(facts)")
        Terminal.report(text)
    }
}
