import ArgumentParser
import HoldfastOutput

/// The output format of a verb's report.
struct PrintOptions: ParsableArguments {
    @Flag(help: "Print JSON instead of text.")
    var json = false

    @Flag(help: "Print failures only.")
    var quiet = false

    func validate() throws {
        guard !(json && quiet) else { throw ValidationError("Give --json or --quiet, not both.") }
    }

    /// Prints a report: as JSON, as text, or not at all.
    func print(_ report: some Encodable, to output: Output = .standard, text: (Output) throws -> Void) throws {
        if json {
            try output.json(report)
        } else if !quiet {
            try text(output)
        }
    }
}
