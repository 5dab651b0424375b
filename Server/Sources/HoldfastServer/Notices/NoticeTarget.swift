/// Whoever is told.
protocol NoticeTarget: Sendable {
    /// What it is called in the log and in `/metrics`: few and fixed names.
    var name: String { get }

    /// Tells it once. It ends within a deadline of its own, whatever the other side does.
    /// - Returns: nil if the notice was taken; else why not, without what could be a secret.
    func deliver(_ notice: Notice) async -> String?
}
