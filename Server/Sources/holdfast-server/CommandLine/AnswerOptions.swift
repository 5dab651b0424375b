import ArgumentParser
import ServerFoundation

/// The output format of a command.
struct AnswerOptions: ParsableArguments {
    @Flag(help: "Print JSON instead of text.")
    var json = false
}

/// JSON objects, one per line, each with the version of its schema.
enum JSONAnswer {
    /// The schema version. Within it, fields are only added, never changed or removed.
    private static let schema: Int64 = 1

    static func print(_ members: [String: CanonicalJSON]) {
        var members = members
        members["schema"] = .integer(schema)
        Terminal.printJSON(String(decoding: CanonicalJSON.object(members).bytes, as: UTF8.self))
    }
}
