import Logging

/// Passes lines on to another log, with a level that can change while loggers are in use. A `Logger` is a value, so
/// setting the level of one copy does not affect the others.
struct AdjustableLogHandler: LogHandler {
    private var handler: any LogHandler
    private let level: Lock<Logger.Level?>

    /// - Parameter level: replaces the log's own level, unless it is nil.
    init(_ handler: any LogHandler, level: Lock<Logger.Level?>) {
        self.handler = handler
        self.level = level
    }

    var logLevel: Logger.Level {
        get { level.withLock { $0 } ?? handler.logLevel }
        set { handler.logLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { handler.metadataProvider }
        set { handler.metadataProvider = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) { handler.log(event: event) }
}
