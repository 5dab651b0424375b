import Foundation

/// Tells a program of the operator: the notice is its standard input, one line of JSON, and exit code 0 says that it was
/// taken. It gets no variables of the server's environment but the search path, and nothing that it prints is read.
struct NoticeProgram: NoticeTarget {
    /// How long it may run, in seconds.
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
