/// A receiver of notices.
package protocol NoticeTarget: Sendable {
    /// The name in the log and in `/metrics`, one of a few fixed names.
    var name: String { get }

    /// Delivers a notice once. It ends within its own deadline, whatever the receiver does.
    /// - Returns: nil if the notice was accepted; else the reason, without secrets.
    func deliver(_ notice: Notice) async -> String?
}
