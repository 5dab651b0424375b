import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// The output format of a verb that answers a question.
struct AnswerOptions: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case prometheus
    }

    @Flag(help: "Print JSON instead of text.")
    var json = false

    @Flag(help: "Print failures only, and nothing when all is well.")
    var quiet = false

    @Option(
        help: ArgumentHelp("Print metrics for the textfile collector of Prometheus.", valueName: "format"))
    var format: Format?

    @Option(
        name: .customShort("o"),
        help: ArgumentHelp("Write the metrics to this file, whole or not at all.", valueName: "file"),
        completion: .file())
    var path: String?

    func validate() throws {
        guard [json, quiet, format != nil].count(where: { $0 }) <= 1 else {
            throw ValidationError("Give one of --json, --quiet and --format.")
        }
        guard path == nil || format != nil else { throw ValidationError("-o goes with --format prometheus.") }
    }

    /// Whether the whole answer is printed as text.
    var isText: Bool { !json && !quiet && format == nil }

    /// Writes metrics for every answer: outdated ones would be wrong.
    func write(_ metrics: PrometheusText) throws(CommandFailure) {
        try DocumentOutput.write(metrics.text, to: path)
    }

    /// Collects information about subjects. If that fails, their metrics report it.
    func answering<Value>(
        _ verb: String, about subjects: [String], _ find: () async throws -> Value
    ) async throws -> Value {
        try await PrometheusText.recording(verb, about: subjects, with: format == nil ? nil : { try write($0) }, find)
    }
}

extension PrometheusText {
    /// Performs an operation on subjects. If that fails, their metrics report it.
    /// - Parameter write: writes metrics; nil if they are not requested.
    static func recording<Value>(
        _ verb: String, about subjects: [String], with write: ((PrometheusText) throws -> Void)?,
        _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch {
            let failure = error as? CommandFailure ?? (error as? PublishingError).map { CommandFailure($0) }
            if let failure, failure.status != .wrongUsage {
                try write?(
                    PrometheusText(
                        verb: verb, now: SystemWallClock().now,
                        subjects: subjects.map { Subject(name: $0, status: failure.status) }))
            }
            throw error
        }
    }
}
