import ArgumentParser

/// The destination of a changed list.
struct ListOutput: ParsableArguments {
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "Write the changed list here, whole or not at all, and leave the list as it is; - prints it.",
            valueName: "file"),
        completion: .file(extensions: ["json"]))
    var path: String?
}
