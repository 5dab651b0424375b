import Foundation

/// Arguments that name files of a folder as a command would that runs in it. This process runs elsewhere.
struct LocalArguments {
    /// Options whose file may not be there yet.
    private static let outputs: Set = [
        "-o", "--output", "--list", "--request", "--metadata-dir", "--domains", "--folder",
    ]
    /// Options with a word, which may be the name of a file as well.
    private static let words: Set = [
        "--certificates", "--force", "--format", "--from", "--host", "--role", "--state",
    ]

    /// With which no name of a host and no pin ends.
    private static let endings: Set = ["crl", "crt", "csr", "der", "json", "key", "pem", "plist", "pub", "xml"]

    private let folder: URL
    /// The command's arguments: the files have their whole paths.
    let whole: [String]

    init(_ arguments: [String], in folder: URL) {
        self.folder = folder
        // Nor may the folder of a repository.
        let folders = arguments.first == "repository" ? 3 : 0
        whole = arguments.enumerated().map { place, argument in
            let option = place > 0 ? arguments[place - 1] : ""
            guard !Self.words.contains(option) else { return argument }
            if Self.outputs.contains(option) || place + 1 == folders {
                return Self.path(argument, in: folder, isThere: false)
            }
            return Self.named(argument, in: folder)
        }
    }

    /// The command's output, as it would be in the folder.
    func local(_ text: String) -> String { text.replacing("\(folder.path)/", with: "") }

    /// A file itself, `VERSION=FILE`, or `FILE@TIME`.
    private static func named(_ argument: String, in folder: URL) -> String {
        let file = path(argument, in: folder, isThere: true)
        guard file == argument, !argument.contains("://") else { return file }
        if let equals = argument.firstIndex(of: "=") {
            let name = String(argument[...equals])
            let value = String(argument[argument.index(after: equals)...])
            let isNew = outputs.contains(String(name.dropLast()))
            return name + (isNew ? path(value, in: folder, isThere: false) : named(value, in: folder))
        }
        guard let at = argument.lastIndex(of: "@") else { return argument }
        return path(String(argument[..<at]), in: folder, isThere: true) + argument[at...]
    }

    private static func path(_ text: String, in folder: URL, isThere: Bool) -> String {
        guard !text.isEmpty, !text.hasPrefix("-"), !text.hasPrefix("/") else { return text }
        let file = "\(folder.path)/\(text)"
        guard isThere else { return file }
        // Links that lead nowhere are there as well, and a file that is missing is missing there.
        let isFound = (try? FileManager.default.attributesOfItem(atPath: file)) != nil
        return isFound || isNameOfFile(text) ? file : text
    }

    private static func isNameOfFile(_ text: String) -> Bool {
        endings.contains((text as NSString).pathExtension) && !text.contains { "=@:".contains($0) }
    }
}
