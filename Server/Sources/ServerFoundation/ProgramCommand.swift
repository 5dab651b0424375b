import Foundation

/// A program of the operator, with its arguments and its time limit (`holdfast-program-v1`). It runs without a shell.
package struct ProgramCommand: Sendable, Hashable {
    /// The path of the program, and its arguments.
    package let words: [String]
    /// The time limit in seconds.
    package let limit: Int64

    /// The canonical bytes.
    package let bytes: [UInt8]

    private static let name = "holdfast-program-v1"
    private static let maximumSize = 16 << 10
    private static let limits: ClosedRange<Int64> = 1...600

    /// Describes a program without starting it.
    /// - Parameters:
    ///   - words: the absolute path of the program, and its arguments: 64 words at most.
    ///   - limit: the time limit in seconds: 1 to 600.
    /// - Throws: ``ServerError`` `invalidValue`.
    package init(_ words: [String], limit: Int64) throws(ServerError) {
        // With a search path, a folder of another user in it would determine the program.
        guard (1...64).contains(words.count), words[0].utf8.first == UInt8(ascii: "/"),
            words.allSatisfy({ $0.utf8.count <= 4_096 && !$0.utf8.contains(0) })
        else {
            throw ServerError(
                .invalidValue, of: "program", expected: "the whole path of a program, and at most 63 arguments",
                found: "something else", remedy: "Give a path such as /usr/local/bin/sign-pins, with its arguments.")
        }
        guard Self.limits.contains(limit) else {
            throw ServerError(
                .invalidValue, of: "program", expected: "a deadline of 1 to 600 seconds", found: "\(limit)")
        }
        self.words = words
        self.limit = limit
        bytes =
            CanonicalJSON.object([
                "format": .text(Self.name), "words": .array(words.map { .text($0) }), "limit": .integer(limit),
            ]).bytes
        guard bytes.count <= Self.maximumSize else {
            throw ServerError(
                .invalidValue, of: "program", expected: "at most \(Self.maximumSize) bytes", found: "more")
        }
    }

    /// Reads the stored form.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`.
    package init(_ bytes: [UInt8]) throws(ServerError) {
        var fields = try JSONFields(
            try CanonicalJSONReader.read(bytes, "program", limit: Self.maximumSize), "program")
        try fields.text("format", Self.name) { $0.elementsEqual(Self.name.utf8) ? () : nil }
        let words = try fields.array("words", atMost: 64) { value, path throws(ServerError) in
            guard case .text(let text) = value else {
                throw ServerError(.malformed, of: path, expected: "a text", found: "another value")
            }
            return String(decoding: text, as: UTF8.self)
        }
        let limit = try fields.integer("limit", in: Self.limits)
        try fields.finish()
        try self.init(words, limit: limit)
        guard self.bytes == bytes else {
            throw ServerError(.malformed, of: "program", expected: "the one spelling", found: "another")
        }
    }

    /// The path of the program. Arguments are never displayed: they may include a PIN.
    package var path: String { words[0] }

    /// The reason not to run the program: it does not exist, or other users can replace it; nil if it can be run.
    package var doubt: String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, unsafe access(path, X_OK) == 0 else {
            return "\(path) cannot be run"
        }
        guard Self.isOurs(status) else {
            return "\(path) can be replaced by other users: make it this user's or root's, and chmod go-w it"
        }
        // A user with write access to a folder can replace a file in it without write access to the file.
        for path in Set([path, URL(filePath: path).resolvingSymlinksInPath().path]) {
            for folder in Self.folders(above: path) {
                var status = stat()
                guard unsafe stat(folder, &status) == 0 else { return "\(folder) cannot be read" }
                // In a folder with the sticky bit, users can rename only their own files.
                guard Self.isOurs(status) || status.st_mode & 0o1000 != 0 else {
                    return "\(path) can be replaced by other users, who can write to the folder \(folder): "
                        + "move it, or make the folder this user's or root's, and chmod go-w it"
                }
            }
        }
        return nil
    }

    private static func isOurs(_ status: stat) -> Bool {
        status.st_mode & 0o022 == 0 && (status.st_uid == geteuid() || status.st_uid == 0)
    }

    /// The folders above a path, from the root on.
    private static func folders(above path: String) -> [String] {
        let names = path.split(separator: "/").dropLast()
        return (0...names.count).map { "/" + names.prefix($0).joined(separator: "/") }
    }
}
