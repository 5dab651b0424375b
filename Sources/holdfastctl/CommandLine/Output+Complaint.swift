import HoldfastOutput

extension Output {
    /// Whether only failures are printed (`--quiet`).
    @TaskLocal static var isQuiet = false

    /// Prints a warning or a note on standard error, unless only failures are wanted.
    func remark(_ message: String) {
        if !Self.isQuiet { complain(message) }
    }

    /// Prints an error or a warning on standard error.
    func complain(_ message: String) { complainAsIs("holdfastctl: " + message) }
}
