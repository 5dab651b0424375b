import Holdfast

extension PublishingError {
    /// Makes an error from a failed check of a host's own certificate or key.
    /// - Parameter subject: the subject of the error; nil for that of the check.
    package init(_ error: HostCheckError, of subject: String? = nil) {
        self.init(
            .notTheHosts, of: subject ?? error.name, expected: error.expected,
            found: "\(error.found) (\(error.code.rawValue))", remedy: error.remedy)
    }
}
