import Holdfast

extension PublishingError {
    /// The error of a check of a host's own certificate or key.
    /// - Parameter subject: what it is about; nil for what was checked.
    package init(_ error: HostCheckError, of subject: String? = nil) {
        self.init(
            .notTheHosts, of: subject ?? error.name, expected: error.expected,
            found: "\(error.found) (\(error.code.rawValue))", remedy: error.remedy)
    }
}
