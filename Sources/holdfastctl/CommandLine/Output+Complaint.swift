import HoldfastOutput

extension Output {
    /// Prints an error or a warning on standard error.
    func complain(_ message: String) { complainAsIs("holdfastctl: " + message) }
}
