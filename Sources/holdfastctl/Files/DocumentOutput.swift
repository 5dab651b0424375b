import ArgumentParser
import Foundation
import HoldfastOutput

/// The destination of the document that a verb makes.
struct DocumentOutput: ParsableArguments {
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "Write the document to this file, whole or not at all, instead of standard output. If the command fails, the "
                + "file stays as it is.", valueName: "file"),
        completion: .file())
    var path: String?

    /// Whether the document goes to a file, so that standard output is free.
    var isFile: Bool { path.map { $0 != InputFile.standard } ?? false }

    /// Writes a document, which has to be complete.
    func write(_ text: String) throws(CommandFailure) { try Self.write(text, to: path) }

    /// - Parameter path: the file; nil or `-` for standard output.
    static func write(_ text: String, to path: String?) throws(CommandFailure) {
        guard let path, path != InputFile.standard else {
            return Output.standard.printAsIs(text.hasSuffix("\n") ? String(text.dropLast()) : text)
        }
        try WrittenFile.replace(
            LinkedFile.target(of: path), with: Data((text.hasSuffix("\n") ? text : text + "\n").utf8), path: path)
    }
}
