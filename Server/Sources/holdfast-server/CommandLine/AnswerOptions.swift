import ArgumentParser
import HoldfastServer

/// How a verb prints what it shows.
struct AnswerOptions: ParsableArguments {
    @Flag(help: "Print JSON instead of text.")
    var json = false
}

/// Objects of JSON, one in a line, each with the version of what its fields mean.
enum JSONAnswer {
    /// From this version on, fields are added, and none is changed or taken away.
    private static let schema: Int64 = 1

    static func print(_ members: [String: CanonicalJSON]) {
        var members = members
        members["schema"] = .integer(schema)
        Terminal.printJSON(String(decoding: CanonicalJSON.object(members).bytes, as: UTF8.self))
    }
}
