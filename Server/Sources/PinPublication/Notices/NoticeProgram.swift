import Foundation
import ServerFoundation

/// Passes notices to a program of the operator as one line of JSON on standard input; exit code 0 means success. Of the
/// server's environment it gets only the search path, and its output is not read.
struct NoticeProgram: NoticeTarget {
    /// Maximum time that it may run, in seconds.
    static let limit: Int64 = 30

    let name = "program"
    let program: ProgramCommand

    func deliver(_ notice: Notice) async -> String? {
        let environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            "HOLDFAST_NOTICE": notice.kind.rawValue, "HOLDFAST_NOTICE_ID": "\(notice.id)",
        ]
        return
            switch await ProgramRun.run(
                program, input: notice.bytes + [0x0A], environment: environment, output: .discarded)
        {
        case .ended(code: 0, _): nil
        case .ended(let code, _): "it ended with exit code \(code)"
        case .signaled(let signal): "signal \(signal) ended it"
        case .timedOut: "it did not end within \(program.limit) s"
        case .notStarted(let reason): "it could not be started: \(reason)"
        case .printedTooMuch: "it printed too much"
        }
    }
}
